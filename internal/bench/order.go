package bench

import (
	"math/rand/v2"
	"slices"
)

// Order is the order of n rows in a round. Orders are drawn by the seed, and balanced: over n rounds each row has each
// place once, and over n rounds (2n when n is odd) each row comes right after each other one equally often. Independent
// draws would leave that to chance, and a row that happens to come first more often than another would seem slower
// where the first of a round pays for something. It is the design of E. J. Williams ("Experimental designs balanced for
// the estimation of residual effects of treatments", 1949). A nil seed keeps the order listed.
func Order(seed *uint64, n, round int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if seed == nil || n < 2 {
		return order
	}
	block, line := divide(round-1, n)
	square, mirrored := block, 0
	if n%2 == 1 { // two squares, one the mirror image of the other, make up for each other
		square, mirrored = divide(block, 2)
	}
	names := draw(*seed, square, n)
	line = draw(*seed+1, block, n)[line] // the order of the square's lines
	// Places hold 0, 1, n-1, 2, n-2, …: neighbours differ by each number once.
	for place := range order {
		step := (place + 1) / 2
		if place%2 == 0 {
			step = n - place/2
		}
		order[place] = names[(step+line)%n]
	}
	if mirrored == 1 {
		slices.Reverse(order)
	}
	return order
}

// divide rounds down, also below zero, where warm-up rounds are.
func divide(a, b int) (quotient, rest int) {
	rest = (a%b + b) % b
	return (a - rest) / b, rest
}

func draw(seed uint64, stream, n int) []int {
	return rand.New(rand.NewPCG(seed, uint64(int64(stream)))).Perm(n)
}
