package ctl

import (
	"net/url"
	"path/filepath"
	"slices"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/internal/strict"
)

// A SARIF log (Static Analysis Results Interchange Format 2.1.0, OASIS). The section numbers are those of the
// standard.

const (
	sarifVersion = "2.1.0"
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	// projectPage is where the codes are explained.
	projectPage = "https://github.com/scalws/scalws"
	codesPage   = projectPage + "/blob/main/docs/configuration.md#codes"
)

type sarifDocument struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool sarifTool `json:"tool"`
	// ColumnKind says that columns count characters, as ours do, and not UTF-16 units (3.14.17).
	ColumnKind string `json:"columnKind"`
	// Results are absent only if the run did not get to the point of looking (3.14.23).
	Results []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

// sarifRule explains a code.
type sarifRule struct {
	ID               string    `json:"id"`
	ShortDescription sarifText `json:"shortDescription"`
	HelpURI          string    `json:"helpUri"`
	Default          struct {
		Level strict.Severity `json:"level"`
	} `json:"defaultConfiguration"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     strict.Severity `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifLocation struct {
	Physical sarifPhysical  `json:"physicalLocation"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	// Region is nil for a problem without a place.
	Region *sarifRegion `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
}

type sarifLogical struct {
	FullyQualifiedName string `json:"fullyQualifiedName"`
}

// sarifLog is the log of one run of the program of that version. The severities have the names that SARIF has
// for its levels (3.27.10). Of the codes it explains those that were found.
func sarifLog(problems []strict.Problem, version string) sarifDocument {
	driver := sarifDriver{Name: "scalwsctl", Version: version, InformationURI: projectPage, Rules: []sarifRule{}}
	index := make(map[string]int)
	for _, code := range config.Codes() {
		if !slices.ContainsFunc(problems, func(p strict.Problem) bool { return p.Code == code.Code }) {
			continue
		}
		rule := sarifRule{ID: code.Code, ShortDescription: sarifText{code.Meaning}, HelpURI: codesPage}
		rule.Default.Level = code.Severity
		index[code.Code] = len(driver.Rules)
		driver.Rules = append(driver.Rules, rule)
	}
	run := sarifRun{Tool: sarifTool{driver}, ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	for _, p := range problems {
		location := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{fileURI(p.File)}}}
		if p.Line > 0 {
			location.Physical.Region = &sarifRegion{p.Line, p.Column}
		}
		if p.Path != "" {
			location.Logical = []sarifLogical{{p.Path}}
		}
		run.Results = append(run.Results, sarifResult{RuleID: p.Code, RuleIndex: index[p.Code], Level: p.Severity,
			Message: sarifText{inOneText(p)}, Locations: []sarifLocation{location}})
	}
	return sarifDocument{Schema: sarifSchema, Version: sarifVersion, Runs: []sarifRun{run}}
}

// fileURI is a path as a URI: relative for a relative path, to where the program ran (3.4.3), as a repository
// has it; with the scheme file for an absolute one (RFC 8089 section 2).
func fileURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}

// inOneText is a problem without its place: path, message and hint.
func inOneText(p strict.Problem) string {
	text := p.Message
	if p.Path != "" {
		text = p.Path + ": " + text
	}
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	return text
}
