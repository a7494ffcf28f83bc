#pragma once
// A page as a file: what --dot, --svg and --html write.
#include <string>
#include <string_view>
#include <vector>

#include "report/page.h"

namespace isoscope {

// Graphviz: lanes as clusters, T0, a legend. Of a lattice, the lattice. Several scenes are several
// clusters of one picture.
std::string page_dot(const Page& page);

// A picture that needs no other program: the lattice or the first scene, with its sentence, lanes,
// T0 and a legend. Follows the light or dark scheme of whoever shows it. A scene that is too large
// says so.
std::string page_svg(const Page& page);

// One self-contained page: the pictures, a player, reasons, tables. Works without a network, and
// but for the player without scripts.
std::string page_html(const Page& page);

// Is there anything to draw?
bool has_picture(const Page& page);

// Pieces of both.
enum class SvgUse { Alone, InPage };
std::string scene_svg(const Scene& scene, std::size_t number, SvgUse use);
std::string lattice_svg(const Lattice& lattice, SvgUse use);

// What an edge says of the transaction that it leaves: "the other reads what it wrote".
std::string_view meaning_of(EdgeKind kind);

// The colours of pictures and pages, by name, for light and for dark.
struct Colour {
  const char* name;
  const char* light;
  const char* dark;
};
const std::vector<Colour>& palette();
// The rules for the classes of a picture, with colours as var(--name).
std::string_view picture_css();

}  // namespace isoscope
