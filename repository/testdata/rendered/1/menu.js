//! about text Menu with herring
document.getElementById('root').appendChild(Object.assign(document.createElement('p'), {textContent: 'Menu with herring'}));
