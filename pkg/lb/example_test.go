package lb_test

import (
	"fmt"
	"time"

	"github.com/scalws/scalws/pkg/lb"
)

// Weights 5, 1 and 1 by smooth weighted round robin.
func ExamplePool() {
	now := time.Now()
	members, problems := lb.CheckMembers([]lb.Member{{"a.internal:80", 5}, {"b.internal:80", 1}, {"c.internal:80", 1}}, false)
	if len(problems) > 0 {
		fmt.Println(problems[0])
		return
	}
	pool, err := lb.NewPool(lb.Options{Name: "api", Settings: lb.DefaultSettings(), Members: members, Now: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 7 {
		lease, _ := pool.Pick(now, lb.Key{}, nil)
		fmt.Print(lease.Address()[:1], " ")
		lease.Done(now, lb.Success())
	}
	// Output: a a b a c a a
}

// A request that is refused by a member goes to another one.
func ExamplePool_MayRetry() {
	now := time.Now()
	pool, err := lb.NewPool(lb.Options{
		Settings: lb.DefaultSettings(), Members: []lb.Member{{"a.internal:80", 1}, {"b.internal:80", 1}}, Now: now,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var tried lb.Tried
	lease, ok := pool.Pick(now, lb.Key{}, &tried)
	for ok {
		outcome := lb.Success()
		if lease.Address() == "a.internal:80" {
			outcome = lb.Failure(lb.ConnectRefused)
		}
		lease.Done(now, outcome)
		fmt.Println(lease.Address(), outcome.Cause())
		attempt := lb.Attempt{Replayable: true, Progress: lb.NothingSent, Outcome: outcome}
		if !pool.MayRetry(attempt, &tried) {
			break
		}
		lease, ok = pool.Retry(now, lb.Key{}, &tried)
	}
	// Output:
	// a.internal:80 connect_refused
	// b.internal:80
}

// The canary gets a tenth of the requests.
func ExampleSplit() {
	split := lb.NewSplit([]int{90, 10})
	for range 10 {
		i, _ := split.Next(nil)
		fmt.Print(i, " ")
	}
	// Output: 0 0 0 0 0 1 0 0 0 0
}
