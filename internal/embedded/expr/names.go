package expr

import "strings"

// SplitPath cuts a dotted path and checks its names (40353, 15998, 16410, 16411).
func SplitPath(path string) ([]string, error) {
	if path == "" {
		return nil, errf(40352, "FieldPath cannot be constructed with empty string")
	}
	if strings.HasSuffix(path, ".") {
		return nil, errf(40353, "FieldPath must not end with a '.'.")
	}
	parts := strings.Split(path, ".")
	for _, p := range parts {
		if err := CheckFieldName(p); err != nil {
			return nil, err
		}
	}
	if len(parts) > maxNesting {
		return nil, errf(15, "FieldPath is longer than %d names", maxNesting)
	}
	return parts, nil
}

// CheckFieldName refuses names that no field path may have.
func CheckFieldName(name string) error {
	switch {
	case name == "":
		return errf(15998, "FieldPath field names may not be empty strings.")
	case name[0] == '$':
		return errf(16410, "FieldPath field names may not start with '$'. Consider using $getField or $setField.")
	case strings.IndexByte(name, 0) >= 0:
		return errf(16411, "FieldPath field names may not contain '\\0'.")
	case strings.IndexByte(name, '.') >= 0:
		return errf(16412, "FieldPath field names may not contain '.'.")
	}
	return nil
}

func checkVarRead(name string) error {
	if name == "" {
		return errf(16869, "empty variable names are not allowed")
	}
	if b := name[0]; !isLetter(b) && b < 0x80 {
		return errf(16870, "'%s' starts with an invalid character for a user variable name", name)
	}
	return checkVarRest(name, 16871)
}

// CheckVarName refuses names that a user may not give to a variable.
func CheckVarName(name string) error {
	if name == "CURRENT" {
		return nil
	}
	if name == "" {
		return errf(16866, "empty variable names are not allowed")
	}
	if b := name[0]; (b < 'a' || b > 'z') && b < 0x80 {
		return errf(16867, "'%s' starts with an invalid character for a user variable name", name)
	}
	return checkVarRest(name, 16868)
}

func checkVarRest(name string, code int32) error {
	for i := 1; i < len(name); i++ {
		if b := name[i]; !isLetter(b) && (b < '0' || b > '9') && b != '_' && b < 0x80 {
			return errf(codeOf(code), "'%s' contains an invalid character for a variable name: '%c'", name, b)
		}
	}
	return nil
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }
