import { useState } from 'react';
import './components.css';

/** Counts its clicks, so that a page sees it is alive. */
function Counter({ label }) {
  const [count, setCount] = useState(0);
  return (
    <button type="button" className="counter" onClick={() => setCount(count + 1)}>
      {label}: {count}
    </button>
  );
}

export default { counter: Counter };
