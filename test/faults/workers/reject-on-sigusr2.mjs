// Tests load it into the gateway's processes: the signal then does what a defect in asynchronous code would do.
process.on('SIGUSR2', () => {
  void Promise.reject(new Error('a stray rejection'))
})
