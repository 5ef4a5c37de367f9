package mongoerr

import "strconv"

// Code is a MongoDB error code. A code without a name of its own is reported
// as "Location<code>", as MongoDB does; such codes need no constant here.
type Code int32

// Codes with names, as MongoDB numbers and names them.
const (
	InternalError                 Code = 1
	BadValue                      Code = 2
	NoSuchKey                     Code = 4
	GraphContainsCycle            Code = 5
	HostUnreachable               Code = 6
	UnknownError                  Code = 8
	FailedToParse                 Code = 9
	CannotMutateObject            Code = 10
	UserNotFound                  Code = 11
	Unauthorized                  Code = 13
	TypeMismatch                  Code = 14
	Overflow                      Code = 15
	InvalidLength                 Code = 16
	ProtocolError                 Code = 17
	AuthenticationFailed          Code = 18
	IllegalOperation              Code = 20
	InvalidBSON                   Code = 22
	LockTimeout                   Code = 24
	NamespaceNotFound             Code = 26
	IndexNotFound                 Code = 27
	PathNotViable                 Code = 28
	NonExistentPath               Code = 29
	InvalidPath                   Code = 30
	RoleNotFound                  Code = 31
	CursorInUse                   Code = 34
	ConflictingUpdateOps          Code = 40
	CursorNotFound                Code = 43
	LockBusy                      Code = 46
	NamespaceExists               Code = 48
	MaxTimeMSExpired              Code = 50
	DollarPrefixedFieldName       Code = 52
	InvalidIDField                Code = 53
	NotSingleValueField           Code = 54
	InvalidDBRef                  Code = 55
	EmptyFieldName                Code = 56
	DottedFieldName               Code = 57
	CommandNotFound               Code = 59
	ImmutableField                Code = 66
	CannotCreateIndex             Code = 67
	IndexAlreadyExists            Code = 68
	InvalidOptions                Code = 72
	InvalidNamespace              Code = 73
	NoReplicationEnabled          Code = 76
	UnknownReplWriteConcern       Code = 79
	IndexOptionsConflict          Code = 85
	IndexKeySpecsConflict         Code = 86
	OperationFailed               Code = 96
	WriteConflict                 Code = 112
	CommandNotSupported           Code = 115
	DocumentValidationFailure     Code = 121
	NotAReplicaSet                Code = 123
	CommandFailed                 Code = 125
	CappedPositionLost            Code = 136
	JSInterpreterFailure          Code = 139
	ExceededMemoryLimit           Code = 146
	ViewDepthLimitExceeded        Code = 165
	CommandNotSupportedOnView     Code = 166
	OptionNotSupportedOnView      Code = 167
	InvalidPipelineOperator       Code = 168
	CannotIndexParallelArrays     Code = 171
	QueryPlanKilled               Code = 175
	ClientMetadataMissing         Code = 183
	InvalidIndexSpecification     Code = 197 // InvalidIndexSpecificationOption
	NoSuchSession                 Code = 206
	IncompleteTransactionHistory  Code = 217
	TransactionTooOld             Code = 225
	CannotImplicitlyCreateColl    Code = 227
	ConversionFailure             Code = 241
	NoSuchTransaction             Code = 251
	TooManyLogicalSessions        Code = 261
	NoQueryExecutionPlans         Code = 291
	QueryExceededMemoryLimit      Code = 292 // QueryExceededMemoryLimitNoDiskUseAllowed
	APIVersionError               Code = 322
	MechanismUnavailable          Code = 334
	UnsupportedOpQueryCommand     Code = 352
	SocketException               Code = 9001
	CannotGrowDocumentInCapped    Code = 10003
	NotMaster                     Code = 10107
	BSONObjectTooLarge            Code = 10334
	DuplicateKey                  Code = 11000
	InterruptedAtShutdown         Code = 11600
	Interrupted                   Code = 11601
	InterruptedDueToReplState     Code = 11602
	BackgroundOperationInProgress Code = 12586 // BackgroundOperationInProgressForNamespace
	OutOfDiskSpace                Code = 14031
	KeyTooLong                    Code = 17280
)

// Name returns MongoDB's name of the code.
func (c Code) Name() string {
	if name, ok := names[c]; ok {
		return name
	}
	return "Location" + strconv.Itoa(int(c))
}

// String is Name with the number.
func (c Code) String() string { return c.Name() + " (" + strconv.Itoa(int(c)) + ")" }

// names is read only.
var names = map[Code]string{
	0:                             "OK",
	InternalError:                 "InternalError",
	BadValue:                      "BadValue",
	NoSuchKey:                     "NoSuchKey",
	GraphContainsCycle:            "GraphContainsCycle",
	HostUnreachable:               "HostUnreachable",
	UnknownError:                  "UnknownError",
	FailedToParse:                 "FailedToParse",
	CannotMutateObject:            "CannotMutateObject",
	UserNotFound:                  "UserNotFound",
	Unauthorized:                  "Unauthorized",
	TypeMismatch:                  "TypeMismatch",
	Overflow:                      "Overflow",
	InvalidLength:                 "InvalidLength",
	ProtocolError:                 "ProtocolError",
	AuthenticationFailed:          "AuthenticationFailed",
	IllegalOperation:              "IllegalOperation",
	InvalidBSON:                   "InvalidBSON",
	LockTimeout:                   "LockTimeout",
	NamespaceNotFound:             "NamespaceNotFound",
	IndexNotFound:                 "IndexNotFound",
	PathNotViable:                 "PathNotViable",
	NonExistentPath:               "NonExistentPath",
	InvalidPath:                   "InvalidPath",
	RoleNotFound:                  "RoleNotFound",
	CursorInUse:                   "CursorInUse",
	ConflictingUpdateOps:          "ConflictingUpdateOperators",
	CursorNotFound:                "CursorNotFound",
	LockBusy:                      "LockBusy",
	NamespaceExists:               "NamespaceExists",
	MaxTimeMSExpired:              "MaxTimeMSExpired",
	DollarPrefixedFieldName:       "DollarPrefixedFieldName",
	InvalidIDField:                "InvalidIdField",
	NotSingleValueField:           "NotSingleValueField",
	InvalidDBRef:                  "InvalidDBRef",
	EmptyFieldName:                "EmptyFieldName",
	DottedFieldName:               "DottedFieldName",
	CommandNotFound:               "CommandNotFound",
	ImmutableField:                "ImmutableField",
	CannotCreateIndex:             "CannotCreateIndex",
	IndexAlreadyExists:            "IndexAlreadyExists",
	InvalidOptions:                "InvalidOptions",
	InvalidNamespace:              "InvalidNamespace",
	NoReplicationEnabled:          "NoReplicationEnabled",
	UnknownReplWriteConcern:       "UnknownReplWriteConcern",
	IndexOptionsConflict:          "IndexOptionsConflict",
	IndexKeySpecsConflict:         "IndexKeySpecsConflict",
	OperationFailed:               "OperationFailed",
	WriteConflict:                 "WriteConflict",
	CommandNotSupported:           "CommandNotSupported",
	DocumentValidationFailure:     "DocumentValidationFailure",
	NotAReplicaSet:                "NotAReplicaSet",
	CommandFailed:                 "CommandFailed",
	CappedPositionLost:            "CappedPositionLost",
	JSInterpreterFailure:          "JSInterpreterFailure",
	ExceededMemoryLimit:           "ExceededMemoryLimit",
	ViewDepthLimitExceeded:        "ViewDepthLimitExceeded",
	CommandNotSupportedOnView:     "CommandNotSupportedOnView",
	OptionNotSupportedOnView:      "OptionNotSupportedOnView",
	InvalidPipelineOperator:       "InvalidPipelineOperator",
	CannotIndexParallelArrays:     "CannotIndexParallelArrays",
	QueryPlanKilled:               "QueryPlanKilled",
	ClientMetadataMissing:         "ClientMetadataMissingField",
	InvalidIndexSpecification:     "InvalidIndexSpecificationOption",
	NoSuchSession:                 "NoSuchSession",
	IncompleteTransactionHistory:  "IncompleteTransactionHistory",
	TransactionTooOld:             "TransactionTooOld",
	CannotImplicitlyCreateColl:    "CannotImplicitlyCreateCollection",
	ConversionFailure:             "ConversionFailure",
	NoSuchTransaction:             "NoSuchTransaction",
	TooManyLogicalSessions:        "TooManyLogicalSessions",
	NoQueryExecutionPlans:         "NoQueryExecutionPlans",
	QueryExceededMemoryLimit:      "QueryExceededMemoryLimitNoDiskUseAllowed",
	APIVersionError:               "APIVersionError",
	MechanismUnavailable:          "MechanismUnavailable",
	UnsupportedOpQueryCommand:     "UnsupportedOpQueryCommand",
	SocketException:               "SocketException",
	CannotGrowDocumentInCapped:    "CannotGrowDocumentInCappedNamespace",
	NotMaster:                     "NotMaster",
	BSONObjectTooLarge:            "BSONObjectTooLarge",
	DuplicateKey:                  "DuplicateKey",
	InterruptedAtShutdown:         "InterruptedAtShutdown",
	Interrupted:                   "Interrupted",
	InterruptedDueToReplState:     "InterruptedDueToReplStateChange",
	BackgroundOperationInProgress: "BackgroundOperationInProgressForNamespace",
	OutOfDiskSpace:                "OutOfDiskSpace",
	KeyTooLong:                    "KeyTooLong",
}
