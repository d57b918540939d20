package lb

import "fmt"

// MemberError is a problem with an entry of a member list, or with the list.
type MemberError struct {
	// Index of the entry, -1 for the whole list.
	Index int
	// Field is "address" or "weight", "" for the whole list.
	Field   string
	Message string
}

// Path names the place: "members[1].weight", or "members" for the whole list.
func (e MemberError) Path() string {
	if e.Index < 0 {
		return "members"
	}
	return fmt.Sprintf("members[%d].%s", e.Index, e.Field)
}

// Error is the path and the message: "members[1].weight: must be between 1 and 1000".
func (e MemberError) Error() string { return e.Path() + ": " + e.Message }

// CheckMembers returns a copy of the list with canonical addresses, and every problem that it has. The
// copy is of use only without problems. https is true for pools that talk TLS to their members. A
// weight of 0 is a problem here: callers fill in [DefaultWeight].
func CheckMembers(in []Member, https bool) ([]Member, []MemberError) {
	var problems []MemberError
	report := func(index int, field, format string, args ...any) {
		problems = append(problems, MemberError{Index: index, Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if len(in) > MaxMembers {
		report(-1, "", "has %d entries: at most %d are possible", len(in), MaxMembers)
	}
	members := make([]Member, len(in))
	first := make(map[string]int, len(in))
	for i, m := range in {
		members[i] = m
		if address, err := ParseAddress(m.Address); err != nil {
			report(i, "address", "%v", err)
		} else {
			members[i].Address = address
			if j, twice := first[address]; twice {
				report(i, "address", "is the same member as members[%d]: %s", j, address)
			} else {
				first[address] = i
			}
			switch {
			case !IsUnix(address):
			case https:
				report(i, "address", "is a unix socket: that needs a pool with scheme: http")
			case len(in) > 1:
				report(i, "address", "is a unix socket: it must be the only member")
			}
		}
		if m.Weight < MinWeight || m.Weight > MaxWeight {
			report(i, "weight", "must be between %d and %d", MinWeight, MaxWeight)
		}
	}
	return members, problems
}
