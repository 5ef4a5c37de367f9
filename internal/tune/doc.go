// Package tune finds the fastest of many ways to do one job, within a time budget.
//
// The search is successive halving (Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter
// optimization", 2016): every candidate once on a small part of the data, then the better half on twice as much, and so on;
// the last few run on everything, in turns, until the budget is used or there is no doubt. What is said in the end rests on these
// last runs alone.
//
// What holds: no run is started after the budget is used, so it is exceeded by what one run takes longer than its forecast at
// most; finalists differ by at most one in their number of runs; equal seeds and equal times give equal searches.
//
// A candidate is a name and a function that takes seconds: the package knows nothing of MongoDB, so it is tested on a simulated
// machine with noise. It does not say what a part of the data preserves: that is its caller's to say.
package tune
