// Package plot draws the charts of a replay report as inline SVG.
//
//	small structs -> one <svg> element as text, the same for the same input
//
// A chart is 360 units wide and scales with the page up to 540 pixels, so its text
// is 12 pixels on a telephone and 18 on a desk, where two charts stand side by side.
// It has no style sheet, script, id or link: text takes the colour of the page around it
// and every fill keeps a contrast of 3 to 1 on white and on near black, so light and
// dark pages need nothing more. Where a colour carries meaning, a place, a number or a
// letter carries it too. Each chart names its figures in its aria-label, each mark in
// a tooltip.
//
// Charts are written by hand: gonum/plot's SVG has fixed colours and sizes in points,
// which neither follow a dark page nor stay readable at 390 pixels.
//
// Limits: widths of text are estimated, long names are cut. Values that are no
// numbers are drawn as missing. Nothing to draw gives an empty string.
package plot
