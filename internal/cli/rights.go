package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/target"
)

// What a run needs to do with its outputs.
func outputActions(oneDatabase bool) []string {
	if oneDatabase {
		return []string{"find", "insert", "remove", "dropCollection"}
	}
	return []string{"find", "insert", "remove", "dropDatabase"}
}

// anyOutput stands for the names of outputs, which are not known before they are made.
const anyOutput = "mrbench_any"

// lacksOutput says which rights are missing for outputs of mapReduce, and what would help; "" none, or it can't be known.
func lacksOutput(f *target.Facts, outDB string) string {
	if outDB != "" {
		missing := f.Lacks(outDB, anyOutput, outputActions(true)...)
		if len(missing) == 0 {
			return ""
		}
		return fmt.Sprintf("user %s lacks %s on database %s: grant the role readWrite on it", f.User, strings.Join(missing, ", "), outDB)
	}
	missing := f.Lacks(anyOutput, "any", outputActions(false)...)
	if len(missing) == 0 {
		return ""
	}
	return fmt.Sprintf("user %s lacks %s on databases of the run's own (mrbench_…): name one that may be written with --out-db, or grant readWriteAnyDatabase and dbAdminAnyDatabase", f.User, strings.Join(missing, ", "))
}

// unauthorized is how servers word a refusal: the database, the command, and what the command is about.
var unauthorized = regexp.MustCompile(`not authorized on (\S+) to execute command (?:\{ *)?(\w+)(?:: "([^"]*)")?`)

// actionsOf are the rights that a command needs, by its name in small letters. mapReduce and aggregate need more for what they write.
func actionsOf(command string) string {
	switch strings.ToLower(command) {
	case "find", "count", "distinct", "explain":
		return "find"
	case "aggregate":
		return "find (and insert and remove where it writes)"
	case "mapreduce":
		return "find on the source, and insert and remove on the output"
	case "insert":
		return "insert"
	case "update", "findandmodify":
		return "update"
	case "delete":
		return "remove"
	case "create":
		return "createCollection"
	case "createindexes":
		return "createIndex"
	case "drop":
		return "dropCollection"
	case "dropdatabase":
		return "dropDatabase"
	case "renamecollection":
		return "renameCollectionSameDB"
	case "splitvector", "serverstatus", "listcollections", "listdatabases", "listindexes", "collstats", "dbstats":
		return command
	}
	return ""
}

// lackingRight says which action on which namespace the user of a refused command lacks; "" when err is no such refusal.
func lackingRight(err error) string {
	code, text := int32(0), ""
	if ce, ok := errors.AsType[mongo.CommandError](err); ok {
		code, text = ce.Code, ce.Message
	}
	if we, ok := errors.AsType[mongo.WriteException](err); ok && we.HasErrorCode(codeUnauthorized) {
		code, text = codeUnauthorized, we.Error()
	}
	if code != codeUnauthorized {
		return ""
	}
	m := unauthorized.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	actions := actionsOf(m[2])
	if actions == "" {
		return ""
	}
	where := "database " + m[1]
	if m[3] != "" {
		where = m[1] + "." + m[3]
	}
	if strings.EqualFold(m[2], "mapReduce") {
		return fmt.Sprintf("the user lacks a right for mapReduce of %s: %s", where, actions)
	}
	return fmt.Sprintf("the user lacks %s on %s: grant the role %s", actions, where, roleFor(m[2], m[1]))
}
