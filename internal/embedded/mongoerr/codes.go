package mongoerr

import "fmt"

// Code is a MongoDB error code. A code without a name of its own is reported
// as "Location<code>", as MongoDB does.
type Code int32

// Codes with names, from MongoDB's error_codes list.
const (
	InternalError            Code = 1
	BadValue                 Code = 2
	NoSuchKey                Code = 4
	GraphContainsCycle       Code = 5
	UnknownError             Code = 8
	FailedToParse            Code = 9
	Unauthorized             Code = 13
	TypeMismatch             Code = 14
	Overflow                 Code = 15
	InvalidLength            Code = 16
	ProtocolError            Code = 17
	AuthenticationFailed     Code = 18
	IllegalOperation         Code = 20
	InvalidBSON              Code = 22
	NamespaceNotFound        Code = 26
	IndexNotFound            Code = 27
	PathNotViable            Code = 28
	NonExistentPath          Code = 29
	ConflictingUpdateOps     Code = 40
	CursorNotFound           Code = 43
	NamespaceExists          Code = 48
	DollarPrefixedFieldName  Code = 52
	InvalidIDField           Code = 53
	InvalidPipelineOperator  Code = 168
	ImmutableField           Code = 66
	CannotCreateIndex        Code = 67
	InvalidOptions           Code = 72
	InvalidNamespace         Code = 73
	IndexOptionsConflict     Code = 85
	IndexKeySpecsConflict    Code = 86
	OperationFailed          Code = 96
	CommandNotFound          Code = 59
	WriteConflict            Code = 112
	ConversionFailure        Code = 241
	CommandNotSupportedOnView Code = 166
	CommandNotSupported      Code = 115
	InterruptedAtShutdown    Code = 11600
	Interrupted              Code = 11601
	MaxTimeMSExpired         Code = 50
	JSInterpreterFailure     Code = 139
	CappedPositionLost       Code = 136
	NoQueryExecutionPlans    Code = 291
	QueryExceededMemoryLimit Code = 292
	OutOfDiskSpace           Code = 14031
	DuplicateKey             Code = 11000
	BSONObjectTooLarge       Code = 10334
	ExceededMemoryLimit      Code = 146
)

var names = map[Code]string{
	InternalError: "InternalError", BadValue: "BadValue", NoSuchKey: "NoSuchKey",
	GraphContainsCycle: "GraphContainsCycle", UnknownError: "UnknownError",
	FailedToParse: "FailedToParse", Unauthorized: "Unauthorized", TypeMismatch: "TypeMismatch",
	Overflow: "Overflow", InvalidLength: "InvalidLength", ProtocolError: "ProtocolError",
	AuthenticationFailed: "AuthenticationFailed", IllegalOperation: "IllegalOperation",
	InvalidBSON: "InvalidBSON", NamespaceNotFound: "NamespaceNotFound", IndexNotFound: "IndexNotFound",
	PathNotViable: "PathNotViable", NonExistentPath: "NonExistentPath",
	ConflictingUpdateOps: "ConflictingUpdateOperators", CursorNotFound: "CursorNotFound",
	NamespaceExists: "NamespaceExists", DollarPrefixedFieldName: "DollarPrefixedFieldName",
	InvalidIDField: "InvalidIdField", InvalidPipelineOperator: "InvalidPipelineOperator",
	ImmutableField: "ImmutableField", CannotCreateIndex: "CannotCreateIndex",
	InvalidOptions: "InvalidOptions", InvalidNamespace: "InvalidNamespace",
	IndexOptionsConflict: "IndexOptionsConflict", IndexKeySpecsConflict: "IndexKeySpecsConflict",
	OperationFailed: "OperationFailed", CommandNotFound: "CommandNotFound",
	WriteConflict: "WriteConflict", ConversionFailure: "ConversionFailure",
	CommandNotSupportedOnView: "CommandNotSupportedOnView", CommandNotSupported: "CommandNotSupported",
	InterruptedAtShutdown: "InterruptedAtShutdown", Interrupted: "Interrupted",
	MaxTimeMSExpired: "MaxTimeMSExpired", JSInterpreterFailure: "JSInterpreterFailure",
	CappedPositionLost: "CappedPositionLost", NoQueryExecutionPlans: "NoQueryExecutionPlans",
	QueryExceededMemoryLimit: "QueryExceededMemoryLimitNoDiskUseAllowed",
	OutOfDiskSpace: "OutOfDiskSpace", DuplicateKey: "DuplicateKey",
	BSONObjectTooLarge: "BSONObjectTooLarge", ExceededMemoryLimit: "ExceededMemoryLimit",
}

// Name returns MongoDB's name of the code.
func (c Code) Name() string {
	if n, ok := names[c]; ok {
		return n
	}
	return fmt.Sprintf("Location%d", int32(c))
}
