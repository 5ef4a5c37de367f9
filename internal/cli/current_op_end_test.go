package cli

import (
	"context"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
)

// What an interrupt left at work is waited for, and looked for twice after the last of it was seen.
func TestAwaitEnd(t *testing.T) {
	t.Parallel()
	op := bson.D{{Key: "ns", Value: "mrbench_r1_1.study_2"}}
	for name, tt := range map[string]struct {
		replies []bson.D // then none is at work
		looks   int
	}{
		"nothing":          {nil, 2},
		"two looks":        {[]bson.D{mongofake.Cursor("admin.$cmd.aggregate", op), mongofake.Cursor("admin.$cmd.aggregate", op)}, 4},
		"one arrives late": {[]bson.D{mongofake.Cursor("admin.$cmd.aggregate"), mongofake.Cursor("admin.$cmd.aggregate", op)}, 4},
		"not allowed":      {[]bson.D{mongofake.Error(13, "not authorized"), mongofake.Error(13, "not authorized")}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			looks := 0
			s := &mongofake.Server{Handle: func(_ context.Context, c mongofake.Command) bson.D {
				if c.Name != "aggregate" {
					return nil
				}
				if text := c.Body.String(); !strings.Contains(text, "mrbench_r1_") || !strings.Contains(text, "$currentOp") {
					t.Errorf("asked %s", text)
				}
				looks++
				if looks <= len(tt.replies) {
					return tt.replies[looks-1]
				}
				return mongofake.Cursor("admin.$cmd.aggregate")
			}}
			awaitEnd(t.Context(), s.Client(t), "r1")
			if looks != tt.looks {
				t.Errorf("looked %d times, not %d", looks, tt.looks)
			}
		})
	}
}
