"""The language of a file, by its name alone.

Deciding by content would make the language of a path depend on more than the path, and a
filter on it could no longer be applied before the text is read. Where several languages
share an extension the commonest has it.
"""

from functools import lru_cache

# Names as people write them: extensions with a dot, whole file names without.
_TABLE = """
Ada              .adb .ads
Agda             .agda
Apex             .cls .apex
AsciiDoc         .adoc .asciidoc
ASN.1            .asn .asn1
Assembly         .asm .s .nasm
Astro            .astro
Awk              .awk
Batchfile        .bat .cmd
Bazel            .bzl .bazel BUILD WORKSPACE
BibTeX           .bib
Bicep            .bicep
C                .c .h .idc
C#               .cs .csx
C++              .cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .inl .ipp .tcc .tpp
Clojure          .clj .cljc .cljs .edn
CMake            .cmake CMakeLists.txt
COBOL            .cbl .cob .cpy
CoffeeScript     .coffee
Common Lisp      .lisp .lsp .cl .asd
Crystal          .cr
CSS              .css
CSV              .csv
CUDA             .cu .cuh
Cython           .pyx .pxd .pxi
D                .d .di
Dart             .dart
Devicetree       .dts .dtsi
Diff             .diff .patch
Dockerfile       .dockerfile Dockerfile Containerfile
Elixir           .ex .exs
Elm              .elm
Emacs Lisp       .el
Erlang           .erl .hrl .escript rebar.config
F#               .fs .fsi .fsx
Fish             .fish
Fortran          .f .f77 .f90 .f95 .f03 .f08 .for
Gherkin          .feature
GLSL             .glsl .frag .vert .comp
Go               .go
Go Module        go.mod go.sum go.work
Gradle           .gradle
GraphQL          .graphql .gql
Groovy           .groovy .gvy Jenkinsfile
Handlebars       .hbs .handlebars
Haskell          .hs .lhs
HCL              .hcl .tf .tfvars
HTML             .html .htm .xhtml
Idris            .idr
INI              .ini .cfg .properties .editorconfig .gitconfig .gitmodules .gitattributes
Java             .java
JavaScript       .js .jsx .mjs .cjs
Jinja            .jinja .jinja2 .j2
JSON             .json .jsonc .json5 .webmanifest .geojson .ipynb
Jsonnet          .jsonnet .libsonnet
Julia            .jl
Just             .just justfile Justfile
Kconfig          Kconfig
Kotlin           .kt .kts
Less             .less
Linker Script    .ld .lds
Lua              .lua
M4               .m4 .ac
Makefile         .mk .mak Makefile GNUmakefile makefile Kbuild
Markdown         .md .markdown .mdx
MATLAB           .mat .matlab
Mermaid          .mmd
Meson            meson.build meson_options.txt
Nim              .nim .nims
Nix              .nix
Objective-C      .m .mm
OCaml            .ml .mli
Pascal           .pas .pp .lpr
Perl             .pl .pm .perl .t
PHP              .php .phtml
PowerShell       .ps1 .psm1 .psd1
Prisma           .prisma
Prolog           .pro .prolog
Protocol Buffer  .proto
Puppet           .puppet
PureScript       .purs
Python           .py .pyi .pyw .bzr SConstruct SConscript
QML              .qml
R                .r .rmd
Racket           .rkt
Reason           .re .rei
reStructuredText .rst .rest
Ruby             .rb .rake .gemspec .ru Gemfile Rakefile Vagrantfile Podfile
Rust             .rs
Sass             .sass
Scala            .scala .sc .sbt
Scheme           .scm .ss .sld
SCSS             .scss
Shell            .sh .bash .zsh .ksh .bashrc .profile
Solidity         .sol
SQL              .sql .ddl .dml
Starlark         .star
Svelte           .svelte
SVG              .svg
Swift            .swift
SystemVerilog    .sv .svh
Tcl              .tcl .tk
TeX              .tex .sty .ltx
Text             .txt .text LICENSE COPYING README NOTICE AUTHORS
Thrift           .thrift
TOML             .toml Cargo.lock Pipfile poetry.lock uv.lock
Twig             .twig
TypeScript       .ts .tsx .mts .cts
TypeSpec         .tsp
Vala             .vala .vapi
Verilog          .v .vh
VHDL             .vhd .vhdl
Vim Script       .vim .vimrc
Visual Basic     .vb .vbs .bas
Vue              .vue
WebAssembly      .wat .wast
WGSL             .wgsl
XML              .xml .xsd .xsl .xslt .wsdl .plist .csproj .props .targets .pom
YAML             .yml .yaml .clang-format .clang-tidy
Zig              .zig .zon
"""


def _read_table() -> tuple[dict[str, str], dict[bytes, str]]:
    names: dict[str, str] = {}
    keys: dict[bytes, str] = {}
    for row in _TABLE.strip().splitlines():
        name = row[:17].strip()
        names[name.lower()] = name
        for key in row[17:].split():
            keys[key.encode()] = name
    return names, keys


_NAMES, _KEYS = _read_table()


def language_name(name: str) -> str | None:
    """The spelling of a language in the table, or None if the table has none of that name."""
    return _NAMES.get(name.lower())


def all_languages() -> list[str]:
    """Every name, in the table's order."""
    return list(_NAMES.values())


@lru_cache(maxsize=65_536)
def language_of(path: bytes) -> str | None:
    """The language of the file at this path, or None if its name does not tell.

    >>> language_of(b"src/Main.JAVA")
    'Java'
    """
    name = path[path.rfind(b"/") + 1 :]
    dot = name.rfind(b".")
    found = _KEYS.get(name)
    if found is None and dot >= 0:
        found = _KEYS.get(name[dot:].lower())
    if found is None and name.startswith(b"Dockerfile."):
        return "Dockerfile"
    return found
