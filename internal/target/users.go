package target

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/embedded"
)

// Login is a user of the engine, on the database admin.
type Login struct{ User, Password string }

// firstUser is the name of the one that is made when there is none and no name is given.
const firstUser = "admin"

// ensureUser makes sure that somebody can log in: the user that want names, with its password, or any when want is empty.
// A user that has to be made has the role root. made is the login that nobody knows yet: without a password given,
// one is made up.
func ensureUser(ctx context.Context, engine *embedded.Engine, want Login) (made *Login, err error) {
	client, err := mongo.Connect(ctx, options.Client().ApplyURI(engineURI).SetDialer(engine))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, client.Disconnect(context.WithoutCancel(ctx))) }()
	admin := client.Database("admin")
	var info struct{ Users []struct{ User, DB string } }
	about := any(bson.D{{Key: "forAllDBs", Value: true}})
	if want.User != "" {
		about = want.User
	}
	if err := admin.RunCommand(ctx, bson.D{{Key: "usersInfo", Value: about}}).Decode(&info); err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}
	command, exists := "createUser", len(info.Users) > 0
	switch {
	case exists && want.Password == "":
		return nil, nil
	case exists:
		command = "updateUser"
	case want.User == "":
		want.User = firstUser
	}
	if want.Password == "" {
		want.Password = rand.Text()
		made = &want
	}
	cmd := bson.D{{Key: command, Value: want.User}, {Key: "pwd", Value: want.Password}}
	if !exists {
		cmd = append(cmd, bson.E{Key: "roles", Value: bson.A{"root"}})
	}
	if err := admin.RunCommand(ctx, cmd).Err(); err != nil {
		return nil, fmt.Errorf("user %q: %w", want.User, err)
	}
	return made, nil
}
