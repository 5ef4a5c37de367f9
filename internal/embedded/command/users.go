package command

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/internal/embedded/auth"
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// The user that other mrbench processes of the same person are: it is not stored, and may do all.
const (
	systemUser = "__system"
	systemDB   = "local"
)

// usersNS is where users are kept, as in MongoDB.
func usersNS() store.NS { return store.NS{DB: "admin", Coll: "system.users"} }

// account is one user. It is never changed: an update makes another one.
type account struct {
	id       string // "db.name"
	uuid     [16]byte
	name, db string
	creds    auth.Credentials
	roles    []auth.Role
	custom   bson.Raw // nil: none
	grants   auth.Grants
}

// accountDoc is an account as it is stored.
type accountDoc struct {
	ID          string           `bson:"_id"`
	UserID      primitive.Binary `bson:"userId"`
	User        string           `bson:"user"`
	DB          string           `bson:"db"`
	Credentials auth.Credentials `bson:"credentials"`
	CustomData  bson.Raw         `bson:"customData,omitempty"`
	Roles       []auth.Role      `bson:"roles"`
}

func (a *account) encode() (bsonx.Doc, error) {
	raw, err := bson.Marshal(accountDoc{
		a.id, primitive.Binary{Subtype: bson.TypeBinaryUUID, Data: a.uuid[:]}, a.name, a.db, a.creds, a.custom, a.roles,
	})
	return bsonx.Doc(raw), err
}

func decodeAccount(doc bsonx.Doc) (*account, error) {
	var d accountDoc
	if err := bson.Unmarshal(doc, &d); err != nil {
		return nil, err
	}
	if d.ID != d.DB+"."+d.User || len(d.UserID.Data) != 16 {
		return nil, fmt.Errorf("document %q is not a user", d.ID)
	}
	a := &account{
		id: d.ID, uuid: [16]byte(d.UserID.Data), name: d.User, db: d.DB, creds: d.Credentials,
		roles: d.Roles, custom: bytes.Clone(d.CustomData), grants: auth.NewGrants(d.Roles),
	}
	return a, nil
}

// users are all accounts: a copy of what is stored, so that asking for rights costs a map look-up.
type users struct {
	db     *store.DB
	change sync.Mutex // held while accounts are changed

	mu     sync.RWMutex
	byID   map[string]*account
	system *account // nil: there is none
	secret []byte   // of decoys; outlives a restart once there are users
}

// loadUsers reads the stored accounts. One that can't be read is logged and can't log in.
func loadUsers(db *store.DB, token string, log func(string, ...any)) *users {
	u := &users{db: db, byID: map[string]*account{}, secret: make([]byte, 16)}
	_, _ = rand.Read(u.secret) // never fails
	if token != "" {
		if creds, err := auth.NewCredentials(systemUser, token, []auth.Mechanism{auth.SHA256}); err == nil {
			roles := []auth.Role{{Role: "root", DB: "admin"}}
			u.system = &account{id: systemDB + "." + systemUser, name: systemUser, db: systemDB, creds: creds, roles: roles, grants: auth.NewGrants(roles)}
		} else {
			log("no user for this machine's other processes: %v", err)
		}
	}
	snap := db.Snapshot()
	defer func() { _ = snap.Close() }()
	coll := snap.Collection(usersNS())
	if coll == nil || coll.IsView() {
		return u
	}
	u.secret = coll.UUID[:]
	it := snap.Records(coll, nil, false)
	defer func() { _ = it.Close() }()
	for it.Next() {
		a, err := decodeAccount(it.Doc())
		if err != nil {
			log("user in %s: %v", usersNS(), err)
			continue
		}
		u.byID[a.id] = a
	}
	if err := it.Err(); err != nil {
		log("read users from %s: %v", usersNS(), err)
	}
	return u
}

// get returns an account, or nil.
func (u *users) get(id string) *account {
	u.mu.RLock()
	defer u.mu.RUnlock()
	if u.system != nil && id == u.system.id {
		return u.system
	}
	return u.byID[id]
}

func (u *users) empty() bool {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return len(u.byID) == 0
}

// list gives the accounts that pick chooses, by id.
func (u *users) list(pick func(*account) bool) []*account {
	u.mu.RLock()
	defer u.mu.RUnlock()
	var out []*account
	for _, a := range u.byID {
		if pick(a) {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b *account) int { return strings.Compare(a.id, b.id) })
	return out
}

// credential is what a login is checked against; a decoy when there is nothing to check against.
func (u *users) credential(m auth.Mechanism, id string) (*auth.Credential, *account) {
	if a := u.get(id); a != nil {
		if c := a.creds.Of(m); c != nil {
			return c, a
		}
	}
	u.mu.RLock()
	defer u.mu.RUnlock()
	return auth.Decoy(m, u.secret, id), nil
}

// add stores a new account. first: only when there is no other.
func (u *users) add(ctx context.Context, a *account, first bool) error {
	u.change.Lock()
	defer u.change.Unlock()
	if first && !u.empty() {
		return mongoerr.New(mongoerr.Unauthorized, "command createUser requires authentication: there are users")
	}
	if u.get(a.id) != nil {
		return mongoerr.New(errUserExists, "User \"%s@%s\" already exists", a.name, a.db)
	}
	return u.store(ctx, a, func(tx *store.Tx, _, doc bsonx.Doc) error { return tx.Insert(doc) })
}

// modify replaces an account by what edit makes of a copy of it.
func (u *users) modify(ctx context.Context, id string, edit func(*account) error) error {
	u.change.Lock()
	defer u.change.Unlock()
	old := u.get(id)
	if old == nil || old == u.system {
		return noUser(id)
	}
	a := *old
	if err := edit(&a); err != nil {
		return err
	}
	a.grants = auth.NewGrants(a.roles)
	return u.store(ctx, &a, func(tx *store.Tx, was, doc bsonx.Doc) error { return tx.Replace(was, doc) })
}

// store writes an account, in the data first.
func (u *users) store(ctx context.Context, a *account, put func(tx *store.Tx, was, doc bsonx.Doc) error) error {
	doc, err := a.encode()
	if err != nil {
		return fmt.Errorf("encode user %s: %w", a.id, err)
	}
	var secret []byte
	err = u.db.Write(ctx, usersNS(), store.WriteOptions{Sync: true, Create: true}, func(tx *store.Tx) error {
		secret = bytes.Clone(tx.Collection().UUID[:])
		was, err := tx.Get(accountKey(a.id))
		if err != nil {
			return err
		}
		return put(tx, was, doc)
	})
	if err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.byID[a.id], u.secret = a, secret
	return nil
}

// remove deletes accounts. Their connections lose their rights.
func (u *users) remove(ctx context.Context, pick func(*account) bool) (n int, err error) {
	u.change.Lock()
	defer u.change.Unlock()
	list := u.list(pick)
	if len(list) == 0 {
		return 0, nil
	}
	err = u.db.Write(ctx, usersNS(), store.WriteOptions{Sync: true}, func(tx *store.Tx) error {
		for _, a := range list {
			doc, err := tx.Get(accountKey(a.id))
			if err == nil && doc != nil {
				err = tx.Delete(doc)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.byID, func(_ string, a *account) bool { return slices.Contains(list, a) })
	return len(list), nil
}

func accountKey(id string) []byte { return bsonx.AppendKey(nil, bsonx.String(id), false) }

func noUser(id string) error {
	db, name, _ := strings.Cut(id, ".")
	return mongoerr.New(mongoerr.UserNotFound, "User '%s@%s' not found", name, db)
}
