/** Milliseconds of processor time of this process so far. Unlike a clock it stands still while others have the processor. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
