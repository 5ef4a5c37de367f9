package seed

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

func TestConfig(t *testing.T) {
	good := Config{Collection: &mongo.Collection{}, Generator: Uniques(1, "f", 1, 1), Documents: 1}
	c, err := good.withDefaults()
	if err != nil || c.Writers != DefaultWriters || c.Batch != DefaultBatch || c.Index != IndexNone {
		t.Errorf("%+v, %v", c, err)
	}
	tests := []struct {
		edit func(*Config)
		want string
	}{
		{func(c *Config) { c.Collection = nil }, "no collection"},
		{func(c *Config) { c.Generator = nil }, "no generator"},
		{func(c *Config) { c.Documents = -1 }, "-1 documents"},
		{func(c *Config) { c.Writers = -1 }, "must be positive"},
		{func(c *Config) { c.Batch = -1 }, "must be positive"},
		{func(c *Config) { c.Index = "later" }, `"later"`},
		{func(c *Config) { c.Index = IndexAfter; c.IndexKeys = bson.D{} }, "no index keys"},
	}
	for _, tt := range tests {
		c := good
		tt.edit(&c)
		if _, err := c.withDefaults(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want something with %q", err, tt.want)
		}
	}
}
