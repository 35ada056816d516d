// Tests load this module into the gateway's processes. SIGUSR2 then has the effect of a defect in asynchronous code.
process.on('SIGUSR2', () => {
  void Promise.reject(new Error('a stray rejection'))
})
