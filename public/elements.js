// Elements of the page.

export function make(name, className, ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/** Touches an element only if it shows another text. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
