//! home text Tides, departures and the weather for all quays, as the harbour master announces them.
//! home link /about The office of the harbour
//! home get /data/home.json
//! about text The office of the harbour is at the old customs house, and open on every working day.
//! about get /data/about.json
//! copy text The same harbour, reached by an address of last year that scripts declare to be a copy.
//! copy canonical /
// The lines above say what the code below does, for the test that has no browser.
const root = document.getElementById('root');
const texts = {
  home: 'Tides, departures and the weather for all quays, as the harbour master announces them.',
  about: 'The office of the harbour is at the old customs house, and open on every working day.',
  copy: 'The same harbour, reached by an address of last year that scripts declare to be a copy.',
};
if (root) {
  const page = root.dataset.page;
  const add = (text) => root.appendChild(Object.assign(document.createElement('p'), {textContent: text}));
  add(texts[page]);
  if (page === 'home') {
    add('').appendChild(Object.assign(document.createElement('a'), {href: '/about', textContent: 'The office of the harbour'}));
  }
  if (page === 'copy') {
    document.head.appendChild(Object.assign(document.createElement('link'), {rel: 'canonical', href: '/'}));
  } else {
    fetch('/data/' + page + '.json').then((r) => r.ok ? r.json() : Promise.reject(r.status)).then((d) => add(d.text)).catch(() => {});
  }
}
