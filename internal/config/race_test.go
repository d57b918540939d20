//go:build race

package config

// raceFactor is how much slower the race detector may make a text.
const raceFactor = 10
