package cluster

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// The modes of the balancer.
const (
	ModeFull      = "full"          // it moves chunks
	ModeSplitOnly = "autoSplitOnly" // it has chunks split and moves none
	ModeOff       = "off"
)

// Balancer is what moves chunks from shard to shard.
type Balancer struct {
	Mode    string `json:"mode"`    // "" when not Known
	Running bool   `json:"running"` // a round is under way; false too where that can't be seen
	Known   bool   `json:"known"`   // the user may see it
}

// Moves reports whether chunks may move.
func (b Balancer) Moves() bool { return b.Known && b.Mode == ModeFull }

func (b Balancer) String() string {
	switch {
	case !b.Known:
		return "not known"
	case b.Mode == ModeFull && b.Running:
		return "on, in a round"
	case b.Mode == ModeFull:
		return "on"
	case b.Mode == ModeSplitOnly:
		return "splits chunks and moves none"
	case b.Running:
		return "off, ending a round"
	}
	return b.Mode
}

func askBalancer(ctx context.Context, client *mongo.Client) (Balancer, error) {
	var reply struct {
		Mode    string `bson:"mode"`
		Running bool   `bson:"inBalancerRound"`
	}
	err := client.Database("admin").RunCommand(ctx, bson.D{{Key: "balancerStatus", Value: 1}}).Decode(&reply)
	if err == nil {
		return Balancer{Mode: reply.Mode, Running: reply.Running, Known: reply.Mode != ""}, nil
	}
	if !refused(err) {
		return Balancer{}, fmt.Errorf("balancerStatus: %w", err)
	}
	list, err := mustFind[struct {
		Mode    string `bson:"mode"`
		Stopped bool   `bson:"stopped"`
	}](ctx, client, "settings", bson.D{{Key: "_id", Value: "balancer"}})
	switch {
	case refused(err):
		return Balancer{}, nil
	case err != nil:
		return Balancer{}, err
	case len(list) == 0: // never changed
		return Balancer{Mode: ModeFull, Known: true}, nil
	case list[0].Mode != "":
		return Balancer{Mode: list[0].Mode, Known: true}, nil
	case list[0].Stopped:
		return Balancer{Mode: ModeOff, Known: true}, nil
	}
	return Balancer{Mode: ModeFull, Known: true}, nil
}

// BalancerOf is the balancer alone; nil when the server is no mongos.
func BalancerOf(ctx context.Context, client *mongo.Client) (*Balancer, error) {
	if is, err := isMongos(ctx, client); err != nil || !is {
		return nil, err
	}
	b, err := askBalancer(ctx, client)
	return &b, err
}

// StopBalancer stops the cluster's balancer and waits for the round that is under way, up to the server's limit of a minute. After
// an error it may be stopped.
func StopBalancer(ctx context.Context, client *mongo.Client) error {
	return balancer(ctx, client, "balancerStop")
}

// StartBalancer starts it, whatever it was before.
func StartBalancer(ctx context.Context, client *mongo.Client) error {
	return balancer(ctx, client, "balancerStart")
}

func balancer(ctx context.Context, client *mongo.Client, command string) error {
	return persist(ctx, patience, func(ctx context.Context) error {
		if err := client.Database("admin").RunCommand(ctx, bson.D{{Key: command, Value: 1}}).Err(); err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
		return nil
	}, nil)
}
