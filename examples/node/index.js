export { Breaker } from './lib/breaker.js'
export { BreakerSync } from './lib/sync.js'
export { ConfigError } from './lib/protocol.js'
