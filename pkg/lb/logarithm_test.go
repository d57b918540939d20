package lb

import (
	"math/big"
	"testing"
)

const precision = 200

// exactLog2 is log2(x) for x in [1, 2), digit by digit: squaring doubles the logarithm.
func exactLog2(x *big.Float) *big.Float {
	x = new(big.Float).SetPrec(precision).Set(x)
	sum, digit := new(big.Float).SetPrec(precision), big.NewFloat(1).SetPrec(precision)
	half, two := big.NewFloat(0.5), big.NewFloat(2)
	for range 100 {
		digit.Mul(digit, half)
		x.Mul(x, x)
		if x.Cmp(two) >= 0 {
			x.Mul(x, half)
			sum.Add(sum, digit)
		}
	}
	return sum
}

// exactNegLog2 is -log2((h+1)/2^64).
func exactNegLog2(h uint64) *big.Float {
	x := new(big.Float).SetPrec(precision).SetUint64(h)
	x.Add(x, big.NewFloat(1))
	exponent := x.MantExp(x) // x is now in [1/2, 1)
	x.Mul(x, big.NewFloat(2))
	log := new(big.Float).SetPrec(precision).SetInt64(int64(64 - exponent + 1))
	return log.Sub(log, exactLog2(x))
}

func scaled(x *big.Float) *big.Float {
	return new(big.Float).SetPrec(precision).SetMantExp(x, logBits)
}

func TestNegLog2(t *testing.T) {
	hashes := []uint64{0, 1, 2, 1<<63 - 1, 1 << 63, 1<<64 - 1, 1<<64 - 2, 1<<64 - 1000, 1<<64 - 1<<50, 1<<64 - 1<<50 - 1, 1<<64 - 1<<57, 1<<64 - 1<<56}
	for n := range uint64(3000) {
		hashes = append(hashes, mix(n), ^(mix(n) >> (n % 64)))
	}
	for j := range uint64(128) {
		hashes = append(hashes, (128+j)<<56-1, (128+j)<<56, (128+j)<<56-2, -(j << 50), -(j<<50)-1)
	}
	bound := big.NewFloat(4) // 2^-55 in units of 2^-57
	for _, h := range hashes {
		got := new(big.Float).SetPrec(precision).SetUint64(negLog2(h))
		diff := got.Sub(got, scaled(exactNegLog2(h)))
		if diff.Abs(diff).Cmp(bound) >= 0 {
			t.Errorf("negLog2(%#x) is off by %.2f units", h, diff)
		}
		if atLeast(h) > negLog2(h) {
			t.Errorf("%#x: the bound %d is above the logarithm %d", h, atLeast(h), negLog2(h))
		}
	}
}

func TestLogTables(t *testing.T) {
	round := func(x *big.Float) uint64 {
		n, _ := new(big.Float).Add(scaled(x), big.NewFloat(0.5)).Uint64()
		return n
	}
	quotient := func(a, b int64) *big.Float {
		return new(big.Float).SetPrec(precision).Quo(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
	}
	for n := range int64(128) {
		if got, want := logCoarse[n], round(exactLog2(quotient(256, 129+n))); got != want {
			t.Errorf("logCoarse[%d] is %#x, want %#x", n, got, want)
		}
		if got, want := logFine[n], round(exactLog2(quotient(1<<14, 1<<14-n))); got != want {
			t.Errorf("logFine[%d] is %#x, want %#x", n, got, want)
		}
	}
}
