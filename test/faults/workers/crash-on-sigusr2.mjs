// Tests load this module into the gateway's processes. SIGUSR2 then has the effect of a defect in the code.
process.on('SIGUSR2', () => {
  throw new Error('a defect')
})
