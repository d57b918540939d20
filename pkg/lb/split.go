package lb

import "sync"

// Split divides requests over entries by weight (docs/load-balancing.md#weighted-backends). It is safe
// for use by several goroutines.
type Split struct {
	mu       sync.Mutex
	rotation *rotation
	weights  []int
	in       []bool
}

// NewSplit makes a split over entries of these weights, 0 to 1000. An entry of weight 0 is never named.
func NewSplit(weights []int) *Split {
	s := &Split{weights: append([]int(nil), weights...), in: make([]bool, len(weights))}
	gains := make([]int32, len(weights))
	for i, w := range weights {
		gains[i] = int32(w)
	}
	s.rotation = newRotation(newShares(gains, gains))
	return s
}

// Next names the next entry by smooth weighted round robin over those that have a weight and are not
// skipped; skip may be nil. It is false when there is none. skip is called under the split's lock.
func (s *Split) Next(skip func(i int) bool) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range s.weights {
		in := w > 0 && (skip == nil || !skip(i))
		switch {
		case in && !s.in[i]:
			s.rotation.put(int32(i))
		case !in && s.in[i]:
			s.rotation.take(int32(i))
		}
		s.in[i] = in
	}
	i := s.rotation.next()
	return int(i), i != none
}
