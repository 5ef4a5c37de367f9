// Package command dispatches and implements commands, one file per command.
package command
