// Package page renders a result as one HTML page that needs nothing else: no script, no font, no image, no network.
//
// Figures are SVG made by this package's templates. Their horizontal positions are percentages, so that they fill
// any width and text keeps its size; only curves are in a stretched inner view, with lines that are not. Words and numbers are HTML
// text where they can be. The page follows the reader's light or dark scheme, prints in light, and reads well at 380 px.
//
// It decides nothing: every number is the result's, and tables are the ones that a terminal shows. Whatever the file
// says is escaped by html/template. Tests open the page in a browser and read figures, sizes and contrast back.
package page
