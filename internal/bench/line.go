package bench

// Line writes a line of another command, whose field "type" is none of a run's. Read ignores it after a run's first line.
func (f *File) Line(v any) error { return f.line(v) }
