/** Returns the milliseconds of CPU time that this process has used. Unlike a clock, this does not advance while other processes have the CPU. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
