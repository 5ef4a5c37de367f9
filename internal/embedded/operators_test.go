package embedded

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// What MongoDB 7.0 knows, by its reference. A name followed by a colon and a number is not here, and answered with that code, which is
// never the one for a name that nobody knows.
const (
	stages70 = `$addFields $bucket $bucketAuto $changeStream:40573 $changeStreamSplitLargeEvent:115 $collStats $count $currentOp $densify $documents $facet
		$fill $geoNear:115 $graphLookup $group $indexStats $limit $listLocalSessions:115 $listSampledQueries:115 $listSearchIndexes:31082 $listSessions:115
		$lookup $match $merge $out $planCacheStats:115 $project $redact $replaceRoot $replaceWith $sample $search:31082 $searchMeta:31082 $set $setWindowFields
		$shardedDataDistribution:115 $skip $sort $sortByCount $unionWith $unset $unwind $vectorSearch:31082`
	expressions70 = `$abs $acos $acosh $add $allElementsTrue $and $anyElementTrue $arrayElemAt $arrayToObject $asin $asinh $atan $atan2 $atanh $avg
		$binarySize $bitAnd $bitNot $bitOr $bitXor $bsonSize $ceil $cmp $concat $concatArrays $cond $const $convert $cos $cosh $dateAdd $dateDiff
		$dateFromParts $dateFromString $dateSubtract $dateToParts $dateToString $dateTrunc $dayOfMonth $dayOfWeek $dayOfYear $degreesToRadians $divide
		$eq $exp $filter $first $firstN $floor $function $getField $gt $gte $hour $ifNull $in $indexOfArray $indexOfBytes $indexOfCP $isArray $isNumber
		$isoDayOfWeek $isoWeek $isoWeekYear $last $lastN $let $literal $ln $log $log10 $lt $lte $ltrim $map $max $maxN $median $mergeObjects $meta
		$millisecond $min $minN $minute $mod $month $multiply $ne $not $objectToArray $or $percentile $pow $radiansToDegrees $rand $range $reduce
		$regexFind $regexFindAll $regexMatch $replaceAll $replaceOne $reverseArray $round $rtrim $second $setDifference $setEquals $setField
		$setIntersection $setIsSubset $setUnion $sin $sinh $size $slice $sortArray $split $sqrt $stdDevPop $stdDevSamp $strLenBytes $strLenCP
		$strcasecmp $substr $substrBytes $substrCP $subtract $sum $switch $tan $tanh $toBool $toDate $toDecimal $toDouble $toHashedIndexKey:115
		$toInt $toLong $toLower $toObjectId $toString $toUpper $trim $trunc $tsIncrement $tsSecond $type $unsetField $week $year $zip`
	accumulators70 = `$accumulator $addToSet $avg $bottom $bottomN $count $first $firstN $last $lastN $max $maxN $median $mergeObjects $min $minN
		$percentile $push $stdDevPop $stdDevSamp $sum $top $topN`
	windowFuncs70 = `$addToSet $avg $bottom $bottomN $count $covariancePop $covarianceSamp $denseRank $derivative $documentNumber $expMovingAvg $first
		$firstN $integral $last $lastN $linearFill $locf $max $maxN $median $min $minN $percentile $push $rank $shift $stdDevPop $stdDevSamp $sum $top $topN`
	fieldTests70 = `$all $bitsAllClear $bitsAllSet $bitsAnyClear $bitsAnySet $elemMatch $eq $exists $geoIntersects:115 $geoWithin:115 $gt $gte $in $lt $lte $mod $ne
		$near:291 $nearSphere:291 $nin $not $options $regex $size $type`
	filterTests70 = `$alwaysFalse $alwaysTrue $and $comment $expr $jsonSchema:115 $nor $or $sampleRate $text:27 $where`
	updates70     = `$addToSet $bit $currentDate $inc $max $min $mul $pop $pull $pullAll $push $rename $set $setOnInsert $unset`
)

// TestNames70: each name of MongoDB 7.0 is either here or refused as known; a made-up name of the same kind shows what "unknown" looks like.
func TestNames70(t *testing.T) {
	db := connect(t, openEngine(t)).Database("d")
	run(t, db, bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{bson.D{{Key: "a", Value: 1}}}}})
	aggregate := func(stage bson.D) bson.D {
		return bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{stage}}, {Key: "cursor", Value: bson.D{}}}
	}
	one := func(name string, v any) bson.D { return bson.D{{Key: name, Value: v}} }
	for _, kind := range []struct {
		kind, names string
		cmd         func(name string) bson.D
	}{
		{"stage", stages70, func(n string) bson.D { return aggregate(one(n, bson.D{})) }},
		{"expression", expressions70, func(n string) bson.D { return aggregate(one("$project", one("x", one(n, 1)))) }},
		{"accumulator", accumulators70, func(n string) bson.D {
			return aggregate(one("$group", bson.D{{Key: "_id", Value: nil}, {Key: "x", Value: one(n, bson.D{})}}))
		}},
		{"window function", windowFuncs70, func(n string) bson.D {
			return aggregate(one("$setWindowFields", bson.D{{Key: "sortBy", Value: one("a", 1)}, {Key: "output", Value: one("x", one(n, bson.D{}))}}))
		}},
		{"field test", fieldTests70, func(n string) bson.D {
			return bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: one("a", one(n, 1))}}
		}},
		{"filter test", filterTests70, func(n string) bson.D { return bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: one(n, 1)}} }},
		{"update", updates70, func(n string) bson.D {
			return bson.D{{Key: "update", Value: "c"}, {Key: "updates", Value: bson.A{bson.D{{Key: "q", Value: bson.D{}}, {Key: "u", Value: one(n, one("b", 1))}}}}}
		}},
	} {
		unknown := answer(db, kind.cmd("$madeUpName"))
		if unknown.code == 0 {
			t.Errorf("a made-up %s is taken", kind.kind)
		}
		for _, entry := range strings.Fields(kind.names) {
			name, code, missing := strings.Cut(entry, ":")
			got := answer(db, kind.cmd(name))
			switch {
			case got.code == unknown.code && strings.ReplaceAll(got.text, name, "$madeUpName") == unknown.text:
				t.Errorf("%s %s is unknown: %s", kind.kind, name, got.text)
			case missing && got.number() != code:
				t.Errorf("%s %s: %s (%s), want code %s", kind.kind, name, got.number(), got.text, code)
			case !missing && got.code == 115:
				t.Errorf("%s %s is not here: %s", kind.kind, name, got.text)
			}
		}
	}
}

type refusal struct {
	code int32
	text string
}

func (r refusal) number() string { return strconv.Itoa(int(r.code)) }

// answer is the error of a command or of its first write.
func answer(db *mongo.Database, cmd bson.D) refusal {
	raw, err := db.RunCommand(context.Background(), cmd).Raw()
	var failed mongo.CommandError
	if errors.As(err, &failed) {
		return refusal{failed.Code, failed.Message}
	}
	if list, ok := raw.Lookup("writeErrors").ArrayOK(); ok {
		first := list.Index(0).Value().Document()
		return refusal{int32(first.Lookup("code").AsInt64()), first.Lookup("errmsg").StringValue()}
	}
	return refusal{}
}
