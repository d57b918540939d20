package config

// check holds values against each other, after all have been read. It passes over values that are
// broken: what follows from a slip is not a second one.
func (d *decoder) check(c *Config) {
	d.checkServer(c)
	for i := range c.Upstreams {
		d.checkUpstream(&c.Upstreams[i])
	}
	d.checkTenants(c)
}
