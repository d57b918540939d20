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

// Entry is one entry of a member list.
type Entry struct {
	Address string `json:"address"`
	Weight  int    `json:"weight"`
}

// Reweight is a member that gets another weight.
type Reweight struct {
	Address string `json:"address"`
	From    int    `json:"from"`
	To      int    `json:"to"`
}
