// Everyday work through mongosh:
//
//   mongosh "mongodb://127.0.0.1:27018/" everyday.js
//
// The last line tells how many steps passed and failed.
const path = require('path');

load(path.join(__dirname, 'lib.js'));
for (const part of ['crud', 'cursors', 'indexes', 'aggregate', 'mapreduce', 'admin', 'types', 'limits', 'sessions']) {
  load(path.join(__dirname, part + '.js'));
}
print(`everyday: ${tally.passed} passed, ${tally.failed} failed`);
if (tally.failed > 0) quit(1);
