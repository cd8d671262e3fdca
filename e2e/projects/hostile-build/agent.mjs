throw new Error('it is not loaded');
