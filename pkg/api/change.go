package api

// ListChange is the difference between two member lists.
type ListChange struct {
	// Added and Removed are members with the weight that they get, or had.
	Added      []Entry    `json:"added"`
	Removed    []Entry    `json:"removed"`
	Reweighted []Reweight `json:"reweighted"`
	// Unchanged members are in both lists with one weight.
	Unchanged int `json:"unchanged"`
}
