// Which users a category has, each once.
// expect: same
db.events.mapReduce(
  function () {
    if (typeof this.user === "string") emit(this.cat, { users: [this.user] });
  },
  function (key, values) {
    var users = [];
    values.forEach(function (v) {
      v.users.forEach(function (u) {
        if (users.indexOf(u) === -1) users.push(u);
      });
    });
    return { users: users };
  },
  { finalize: function (key, v) { return { users: v.users, n: v.users.length }; }, out: { inline: 1 } }
);
