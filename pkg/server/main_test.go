package server_test

import (
	"testing"

	"go.uber.org/goleak"
)

// Every daemon, member and client of a test must be gone at the end.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
