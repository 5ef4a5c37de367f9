package bench

import (
	"slices"
	"testing"
)

func TestOrdersAreBalanced(t *testing.T) {
	for n := 2; n <= 10; n++ {
		for _, seed := range []uint64{0, 1, 12345} {
			rounds := n
			if n%2 == 1 {
				rounds = 2 * n
			}
			for first := -rounds + 1; first <= 1+2*rounds; first += rounds { // warm-up rounds too
				places, after := map[[2]int]int{}, map[[2]int]int{}
				for round := first; round < first+rounds; round++ {
					order := Order(&seed, n, round)
					if sorted := slices.Sorted(slices.Values(order)); !slices.Equal(sorted, Order(nil, n, 1)) {
						t.Fatalf("round %d: %v does not hold each row once", round, order)
					}
					for place, row := range order {
						places[[2]int{place, row}]++
						if place > 0 {
							after[[2]int{order[place-1], row}]++
						}
					}
				}
				for k, v := range places {
					if v != rounds/n {
						t.Errorf("%d rows, seed %d: place and row %v come %d times in %d rounds", n, seed, k, v, rounds)
					}
				}
				for k, v := range after {
					if v != rounds/n || len(after) != n*(n-1) {
						t.Errorf("%d rows, seed %d: %v come one after the other %d times in %d rounds", n, seed, k, v, rounds)
					}
				}
			}
		}
	}
}

func TestOrderIsTheSeeds(t *testing.T) {
	a, b := uint64(1), uint64(2)
	same, other := 0, 0
	for round := 1; round <= 20; round++ {
		if slices.Equal(Order(&a, 9, round), Order(&a, 9, round)) {
			same++
		}
		if !slices.Equal(Order(&a, 9, round), Order(&b, 9, round)) {
			other++
		}
		if !slices.Equal(Order(nil, 3, round), []int{0, 1, 2}) {
			t.Error("without a seed the order is the one listed")
		}
	}
	if same != 20 || other < 18 {
		t.Errorf("the same seed gave the same order in %d of 20 rounds, another seed another in %d", same, other)
	}
}
