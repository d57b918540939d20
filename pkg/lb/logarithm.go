package lb

import "math/bits"

// logBits is the number of fraction bits of a logarithm; 7 bits hold the integer part, 0 to 64.
const logBits = 57

// log2e is the logarithm of e to base 2 with 63 fraction bits.
const log2e = 0xb8aa3b295c17f0bc

// atLeast is a bound that negLog2 of the same number does not go below: -ln(1-e) >= e.
func atLeast(h uint64) uint64 {
	log, _ := bits.Mul64(^h, log2e)
	return log >> 6
}

// negLog2 is -log2((h+1) / 2^64) with 57 fraction bits, in integers only: Go's floating-point logarithm
// differs between architectures in its last digits, and a mapping of keys must not. The error is below
// 2^-55, and near h = 2^64-1, where the winners are, the result is proportional to 2^64-1-h.
//
// The number is shifted into [1/2, 1) and then brought towards 1 by two factors whose logarithms are in
// tables: 256/(129+j) leaves 1-e with e <= 1/129, and 1/(1 - k/2^14) leaves e < 2^-13.9. Then
// -ln(1-e) = e + e^2/2 + e^3/3, short by less than 2^-57.
func negLog2(h uint64) uint64 {
	y := h + 1
	if y == 0 {
		return 0
	}
	shift := bits.LeadingZeros64(y)
	y <<= shift
	j := y>>56 - 128
	z, _ := bits.Div64(y>>56, y<<8, 129+j)
	e := -z
	k := e >> 50
	e = e << 14 / (1<<14 - k) // the shift drops k
	square, _ := bits.Mul64(e, e)
	cube, _ := bits.Mul64(square, e)
	ln := e + square/2 + cube/3
	// 64 + 63 fraction bits, less 64 by taking the high word, less 6 more.
	log, _ := bits.Mul64(ln, log2e)
	return uint64(shift)<<logBits + logCoarse[j] + logFine[k] + log>>6
}
