//! about text Menu with mackerel
document.getElementById('root').appendChild(Object.assign(document.createElement('p'), {textContent: 'Menu with mackerel'}));
