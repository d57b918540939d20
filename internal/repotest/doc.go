// Package repotest holds the rules of this repository that the compiler does not: who may import whom,
// what a file may contain, links and examples that must work. It has nothing but tests; a rule is a
// table or a function with its reason beside it.
package repotest
