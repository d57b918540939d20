package sim

// The codes of problems besides those that any text can have (docs/simulation.md#the-scenario).
const (
	codeInvalidMember      = "invalid_member"
	codeUnknownMember      = "unknown_member"
	codeMisplacedKey       = "misplaced_key"
	codeInvalidEvent       = "invalid_event"
	codeInvalidExpectation = "invalid_expectation"
	codeScenarioTooLarge   = "scenario_too_large"
)
