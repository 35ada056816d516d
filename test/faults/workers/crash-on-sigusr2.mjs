// Tests load it into the gateway's processes: the signal then does what a defect in the code would do.
process.on('SIGUSR2', () => {
  throw new Error('a defect')
})
