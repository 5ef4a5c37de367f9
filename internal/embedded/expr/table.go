package expr

import (
	"maps"
	"math"
	"sync"

	"github.com/cockroachdb/apd/v3"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/libm"
)

// operators gives the table of all expression operators. It is made once and
// never changed; a compiler carries it so that parsers need no package variable.
var operators = sync.OnceValue(func() map[string]op {
	all := map[string]op{}
	for _, family := range []map[string]op{arithmeticOps(), logicOps(), stringOps(), arrayOps(), typeOps(), dateOps()} {
		maps.Copy(all, family)
	}
	return all
})

// IsOperator reports whether there is an expression operator of that name.
func IsOperator(name string) bool {
	_, ok := operators()[name]
	return ok
}

func fixed(n int, fn function) op        { return op{min: n, max: n, fn: fn} }
func between(lo, hi int, fn function) op { return op{min: lo, max: hi, fn: fn} }
func variadic(fn function) op            { return op{max: -1, fn: fn} }

func parser(p func(c *compiler, name string, arg bsonx.Value) (node, error)) op { return op{parse: p} }

func arithmeticOps() map[string]op {
	return map[string]op{
		"$add":      variadic(opAdd),
		"$subtract": fixed(2, opSubtract),
		"$multiply": variadic(opMultiply),
		"$divide":   fixed(2, opDivide),
		"$mod":      fixed(2, opMod),
		"$abs":      fixed(1, opAbs),
		"$ceil":     fixed(1, rounder(math.Ceil, apd.RoundCeiling)),
		"$floor":    fixed(1, rounder(math.Floor, apd.RoundFloor)),
		"$round":    between(1, 2, roundPlaces(apd.RoundHalfEven)),
		"$trunc":    between(1, 2, roundPlaces(apd.RoundDown)),
		"$pow":      fixed(2, opPow),
		"$log":      fixed(2, opLog),
		"$exp":      fixed(1, real(libm.Exp, decExp, nil)),
		"$ln":       fixed(1, real(libm.Log, decLn, positive(28766))),
		"$log10":    fixed(1, real(libm.Log10, decLog10, positive(28761))),
		"$sqrt":     fixed(1, real(math.Sqrt, decSqrt, notNegative)),

		"$sin": fixed(1, real(math.Sin, nil, finite)), "$cos": fixed(1, real(math.Cos, nil, finite)),
		"$tan": fixed(1, real(math.Tan, nil, finite)), "$asin": fixed(1, real(math.Asin, nil, within(-1, 1))),
		"$acos": fixed(1, real(math.Acos, nil, within(-1, 1))), "$atan": fixed(1, real(math.Atan, nil, nil)),
		"$sinh": fixed(1, real(math.Sinh, nil, nil)), "$cosh": fixed(1, real(math.Cosh, nil, nil)),
		"$tanh": fixed(1, real(math.Tanh, nil, nil)), "$asinh": fixed(1, real(math.Asinh, nil, nil)),
		"$acosh": fixed(1, real(math.Acosh, nil, within(1, math.Inf(1)))),
		"$atanh": fixed(1, real(math.Atanh, nil, within(-1, 1))), "$atan2": fixed(2, opAtan2),
		"$degreesToRadians": fixed(1, real(func(f float64) float64 { return f * (math.Pi / 180) }, nil, nil)),
		"$radiansToDegrees": fixed(1, real(func(f float64) float64 { return f * (180 / math.Pi) }, nil, nil)),

		"$bitAnd": variadic(bitwise(-1, func(x, y int64) int64 { return x & y })),
		"$bitOr":  variadic(bitwise(0, func(x, y int64) int64 { return x | y })),
		"$bitXor": variadic(bitwise(0, func(x, y int64) int64 { return x ^ y })),
		"$bitNot": fixed(1, opBitNot),
	}
}

func logicOps() map[string]op {
	return map[string]op{
		"$cmp": comparison(false, false, false),
		"$eq":  comparison(false, true, false), "$ne": comparison(true, false, true),
		"$lt": comparison(true, false, false), "$lte": comparison(true, true, false),
		"$gt": comparison(false, false, true), "$gte": comparison(false, true, true),
		"$and": logic(false), "$or": logic(true), "$not": fixed(1, opNot),
		"$cond": parser(parseCond), "$ifNull": parser(parseIfNull), "$switch": parser(parseSwitch),
		"$let": parser(parseLet), "$literal": parser(parseLiteral), "$meta": parser(parseMeta), "$const": parser(parseLiteral),
		"$rand": {parse: parseRand, impure: true}, "$function": {parse: parseFunction, impure: true},
	}
}

func stringOps() map[string]op {
	return map[string]op{
		"$concat": variadic(opConcat),
		"$substr": fixed(3, opSubstrBytes), "$substrBytes": fixed(3, opSubstrBytes), "$substrCP": fixed(3, opSubstrCP),
		"$toLower": fixed(1, mapASCII('A', 'Z')), "$toUpper": fixed(1, mapASCII('a', 'z')),
		"$split":        fixed(2, opSplit),
		"$indexOfBytes": between(2, 4, indexOf(false, 40091)), "$indexOfCP": between(2, 4, indexOf(true, 40093)),
		"$strLenBytes": fixed(1, opStrLenBytes), "$strLenCP": fixed(1, opStrLenCP),
		"$strcasecmp": fixed(2, opStrcasecmp),
		"$trim":       trim(true, true), "$ltrim": trim(true, false), "$rtrim": trim(false, true),
		"$regexMatch": regexOp(regexMatch), "$regexFind": regexOp(regexFind), "$regexFindAll": regexOp(regexFindAll),
		"$replaceOne": replace(1), "$replaceAll": replace(-1),
	}
}

func arrayOps() map[string]op {
	nInput := func(fn function) op {
		return named{notObject: 5787801, unknown: 5787901, params: []param{{"n", 5787906}, {"input", 5787907}}, fn: fn}.op()
	}
	return map[string]op{
		"$arrayElemAt": fixed(2, opArrayElemAt), "$first": fixed(1, endOf(0)), "$last": fixed(1, endOf(-1)),
		"$slice": between(2, 3, opSlice), "$concatArrays": variadic(opConcatArrays),
		"$in": fixed(2, opIn), "$reverseArray": fixed(1, opReverseArray), "$size": fixed(1, opSize),
		"$isArray": fixed(1, opIsArray), "$range": between(2, 3, opRange),
		"$indexOfArray": parser(parseIndexOfArray), "$zip": parser(parseZip),
		"$map": parser(parseMap), "$filter": parser(parseFilter), "$reduce": parser(parseReduce),
		"$sortArray": parser(parseSortArray),
		"$firstN":    nInput(firstN(false)), "$lastN": nInput(firstN(true)),
		"$maxN": nInput(extremeN(-1)), "$minN": nInput(extremeN(1)),
		"$arrayToObject": fixed(1, opArrayToObject), "$objectToArray": fixed(1, opObjectToArray),
		"$mergeObjects": variadic(opMergeObjects), "$getField": parser(parseGetField),
		"$setField": parser(parseSetField), "$unsetField": parser(parseSetField),

		"$setUnion": variadic(opSetUnion), "$setIntersection": variadic(opSetIntersection),
		"$setDifference": fixed(2, opSetDifference), "$setEquals": variadic(opSetEquals),
		"$setIsSubset": parser(parseSetIsSubset), "$anyElementTrue": fixed(1, anyTrue(true, 17041)),
		"$allElementsTrue": fixed(1, anyTrue(false, 17040)),

		"$sum": variadic(opSum), "$avg": variadic(opAvg),
		"$max": variadic(extreme(1)), "$min": variadic(extreme(-1)),
		"$stdDevPop": variadic(stdDev(false)), "$stdDevSamp": variadic(stdDev(true)),
		"$median": parser(parsePercentile), "$percentile": parser(parsePercentile),
	}
}

func typeOps() map[string]op {
	return map[string]op{
		"$type": fixed(1, opType), "$isNumber": fixed(1, opIsNumber), "$convert": parser(parseConvert),
		"$toString": convertTo(tString), "$toInt": convertTo(tInt32),
		"$toLong": convertTo(tInt64), "$toDouble": convertTo(tDouble),
		"$toDecimal": convertTo(tDecimal), "$toBool": convertTo(tBool),
		"$toDate": convertTo(tDate), "$toObjectId": convertTo(tObjectID),
		"$bsonSize": fixed(1, opBsonSize), "$binarySize": fixed(1, opBinarySize),
		"$tsSecond": fixed(1, timestampPart(5687301, 32)), "$tsIncrement": fixed(1, timestampPart(5687302, 0)),
	}
}
