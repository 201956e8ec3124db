//! The compiled core of the index: trigrams of blocks, lists of blocks, postings, AND.
//!
//! No dependencies and no allocator: the host (host.py) lays out the memory behind
//! `__heap_base` and passes addresses. One instance builds one chunk of at most 65,536
//! blocks at a time. The words and the bytes of a posting are those of
//! search/index/format.py; normalisation is that of search/index/text.py, and a test holds
//! the two together. Text comes from strangers: whatever it holds, the worst that can
//! happen is a trap inside the sandbox.
//!
//! A trigram's code is b0 | b1 << 8 | b2 << 16.
#![no_std]
#![no_main]
#![allow(static_mut_refs)]
use core::arch::wasm32::*;
use core::ptr::copy;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}

const CODES: usize = 1 << 24;
const CHUNK_BLOCKS: u32 = 65_536;
const MAX_DOCUMENT: usize = 96 << 20; // 64 MiB of UTF-16 decoded
const BITMAP_FROM: u32 = 4_096; // a list of more blocks than this is a bitmap
const BITMAP_BYTES: usize = 8_192;

const NOT_UTF8: u32 = 1;
const UTF16: u32 = 2;
const BINARY: u32 = 1 << 31;

const ARRAY: u32 = 0;
const BITMAP: u32 = 1;
const GAPS: u32 = 2;

/// The blocks of one trigram in this chunk: the address behind the last value, or of the
/// bitmap, and how many blocks there are.
#[derive(Clone, Copy)]
#[repr(C)]
struct List {
    at: u32,
    count: u32,
}

// Pages that are never touched cost nothing, so the tables have their largest size.
static mut LISTS: [List; CODES] = [List { at: 0, count: 0 }; CODES];
static mut PRESENT: [u64; CODES / 64] = [0; CODES / 64]; // has a list in this chunk
static mut SEEN: [u8; CODES / 8] = [0; CODES / 8]; // occurred in this block already
static mut UNIQUE: [u32; CODES + 8] = [0; CODES + 8]; // the trigrams of one block
static mut FOLD: [u32; 0x20000] = [0; 0x20000]; // simple folding by code point, 0 = itself
static mut FOLDED: [u8; MAX_DOCUMENT * 3 / 2 + 64] = [0; MAX_DOCUMENT * 3 / 2 + 64];
static mut VALUES: [u16; 65_536 + 8] = [0; 65_536 + 8]; // one list or result, as u16
static mut SAVED: [u16; 65_536] = [0; 65_536];
static mut WORDS: [u64; BITMAP_BYTES / 8] = [0; BITMAP_BYTES / 8]; // candidates as bits
static mut MARKS: [u8; BITMAP_BYTES] = [0; BITMAP_BYTES]; // zero between uses
static mut FREE: [u32; 16] = [0; 16]; // freed slices by class
static mut ARENA: u32 = 0;
static mut TOP: u32 = 0; // next free byte of the arena

/// Where the host writes the folding table: u32 by code point below 0x20000.
#[no_mangle]
pub unsafe extern "C" fn fold_table() -> u32 {
    FOLD.as_ptr() as u32
}

// ---------------------------------------------------------------- lists of blocks

/// Forget all lists. From now on lists live from `arena` upwards.
#[no_mangle]
pub unsafe extern "C" fn reset(arena: u32) {
    for word in 0..CODES / 64 {
        let mut bits = PRESENT[word];
        while bits != 0 {
            LISTS[word * 64 + bits.trailing_zeros() as usize] = List { at: 0, count: 0 };
            bits &= bits - 1;
        }
        PRESENT[word] = 0;
    }
    FREE = [0; 16];
    ARENA = arena;
    TOP = arena;
}

/// Bytes that the lists take.
#[no_mangle]
pub unsafe extern "C" fn used() -> u32 {
    TOP - ARENA
}

unsafe fn allocate(bytes: u32) -> u32 {
    let at = TOP;
    TOP += bytes;
    if TOP as u64 > (memory_size(0) as u64) << 16 && memory_grow(0, 256) == usize::MAX {
        core::arch::wasm32::unreachable()
    }
    at
}

/// Open the next slice of a list that is full.
///
/// A list is a chain of slices of 2, 4, 8 … values, each behind a link to the one before,
/// so lists of 0, 2, 6, 14 … values are full.
#[inline(never)]
unsafe fn open_slice(list: *mut List, code: u32) {
    let count = (*list).count;
    if count == 0 {
        PRESENT[code as usize >> 6] |= 1 << (code & 63);
    }
    let class = (count + 2).trailing_zeros();
    // The 4,095th and 4,096th value are the last before the list becomes a bitmap.
    let capacity = if class == 12 { 2 } else { 1u32 << class };
    let mut slice = FREE[class as usize];
    if slice != 0 {
        FREE[class as usize] = *(slice as *const u32);
    } else {
        slice = allocate((4 + 2 * capacity + 3) & !3);
    }
    let previous = if count == 0 { 0 } else { (*list).at - 2 * (1 << (class - 1)) - 4 };
    *(slice as *mut u32) = previous;
    (*list).at = slice + 4;
}

/// Call `visit(slice, index of its first value, its values, its class)`, last slice first.
#[inline(always)]
unsafe fn each_slice(list: List, mut visit: impl FnMut(u32, u32, u32, u32)) {
    let mut class = 31 - (list.count + 1).leading_zeros();
    let mut first = (1u32 << class) - 2;
    let mut slice = list.at - 2 * (list.count - first) - 4;
    let mut end = list.count;
    loop {
        // Read before `visit`, which may put the slice on the list of free ones.
        let previous = *(slice as *const u32);
        visit(slice, first, end - first, class);
        if first == 0 {
            break;
        }
        end = first;
        class -= 1;
        first = (1u32 << class) - 2;
        slice = previous;
    }
}

#[inline(never)]
unsafe fn become_bitmap(list: *mut List) {
    let bitmap = allocate(BITMAP_BYTES as u32);
    core::slice::from_raw_parts_mut(bitmap as *mut u8, BITMAP_BYTES).fill(0);
    each_slice(*list, |slice, _, count, class| {
        let values = (slice + 4) as *const u16;
        for i in 0..count as usize {
            set_bit(bitmap as *mut u8, *values.add(i) as usize);
        }
        *(slice as *mut u32) = FREE[class as usize];
        FREE[class as usize] = slice;
    });
    (*list).at = bitmap;
}

#[inline(always)]
unsafe fn set_bit(bitmap: *mut u8, i: usize) {
    *bitmap.add(i >> 3) |= 1 << (i & 7);
}

#[inline(always)]
unsafe fn bit(bitmap: *const u8, i: usize) -> usize {
    (*bitmap.add(i >> 3) >> (i & 7) & 1) as usize
}

#[inline(always)]
unsafe fn append(code: u32, block: u32) {
    let list = LISTS.as_mut_ptr().add(code as usize);
    let count = (*list).count;
    if count < BITMAP_FROM {
        if (count + 2) & (count + 1) == 0 {
            open_slice(list, code);
        }
        let at = (*list).at;
        *(at as *mut u16) = block as u16;
        *list = List { at: at + 2, count: count + 1 };
    } else {
        if count == BITMAP_FROM {
            become_bitmap(list);
        }
        set_bit((*list).at as *mut u8, block as usize);
        (*list).count = count + 1;
    }
}

// ---------------------------------------------------------------- trigrams of a block

/// Keep `code` if the block had none such yet. No branch: about one in four is new, which
/// no branch predictor learns.
#[inline(always)]
unsafe fn keep(code: u32, unique: *mut u32, count: usize) -> usize {
    let seen = SEEN.as_mut_ptr().add((code >> 3) as usize);
    let byte = *seen as u32;
    *unique.add(count) = code;
    *seen = (byte | 1 << (code & 7)) as u8;
    count + (!(byte >> (code & 7)) & 1) as usize
}

#[inline(always)]
unsafe fn keep_trigrams(mut text: *const u8, len: usize, unique: *mut u32, mut n: usize) -> usize {
    if len < 3 {
        return n;
    }
    let end = text.add(len - 2);
    while (end as usize) - (text as usize) >= 6 {
        let bytes = (text as *const u64).read_unaligned();
        n = keep(bytes as u32 & 0xffffff, unique, n);
        n = keep((bytes >> 8) as u32 & 0xffffff, unique, n);
        n = keep((bytes >> 16) as u32 & 0xffffff, unique, n);
        n = keep((bytes >> 24) as u32 & 0xffffff, unique, n);
        n = keep((bytes >> 32) as u32 & 0xffffff, unique, n);
        n = keep((bytes >> 40) as u32, unique, n);
        text = text.add(6);
    }
    while text < end {
        n = keep((text as *const u32).read_unaligned() & 0xffffff, unique, n);
        text = text.add(1);
    }
    n
}

/// Lower case of a trigram of ASCII letters; a trigram with another byte stays.
#[inline(always)]
fn lower(code: u32) -> u32 {
    let upper = code.wrapping_add(0x3f3f3f) & !code.wrapping_add(0x252525) & 0x808080;
    if code & 0x808080 != 0 {
        code
    } else {
        code | upper >> 2
    }
}

#[inline(always)]
fn has_newline(code: u32) -> bool {
    let zero_where_newline = code ^ 0x0a0a0a;
    zero_where_newline.wrapping_sub(0x010101) & !zero_where_newline & 0x808080 != 0
}

/// The character at `text`: code point and length in bytes; length 0 if it is not UTF-8.
#[inline(always)]
unsafe fn character(text: *const u8, room: usize) -> (u32, usize) {
    let lead = *text as u32;
    // 0 to 63 for a continuation byte, more for any other.
    let next = |i: usize| if i < room { *text.add(i) as u32 ^ 0x80 } else { 0xff };
    let (b, c, d) = (next(1), next(2), next(3));
    if lead >= 0xc2 && lead < 0xe0 && b < 64 {
        return ((lead & 31) << 6 | b, 2);
    }
    if lead >= 0xe0 && lead < 0xf0 && b < 64 && c < 64 {
        let point = (lead & 15) << 12 | b << 6 | c;
        if point >= 0x800 && (point < 0xd800 || point > 0xdfff) {
            return (point, 3);
        }
    }
    if lead >= 0xf0 && lead < 0xf5 && b < 64 && c < 64 && d < 64 {
        let point = (lead & 7) << 18 | b << 12 | c << 6 | d;
        if point >= 0x10000 && point < 0x110000 {
            return (point, 4);
        }
    }
    (0, 0)
}

unsafe fn write_character(point: u32, out: *mut u8) -> usize {
    let tail = |shift: u32| (0x80 | point >> shift & 63) as u8;
    if point < 0x80 {
        *out = point as u8;
        1
    } else if point < 0x800 {
        *out = (0xc0 | point >> 6) as u8;
        *out.add(1) = tail(0);
        2
    } else if point < 0x10000 {
        *out = (0xe0 | point >> 12) as u8;
        *out.add(1) = tail(6);
        *out.add(2) = tail(0);
        3
    } else {
        *out = (0xf0 | point >> 18) as u8;
        *out.add(1) = tail(12);
        *out.add(2) = tail(6);
        *out.add(3) = tail(0);
        4
    }
}

/// Simple case folding into FOLDED: its length, and whether all of the text is UTF-8.
/// Bytes that are not UTF-8 stay.
unsafe fn fold_text(text: *const u8, len: usize) -> (usize, bool) {
    let out = FOLDED.as_mut_ptr();
    let (mut i, mut o, mut valid) = (0, 0, true);
    while i < len {
        let byte = *text.add(i);
        if byte < 0x80 {
            *out.add(o) = byte.to_ascii_lowercase();
            i += 1;
            o += 1;
            continue;
        }
        let (point, size) = character(text.add(i), len - i);
        valid &= size != 0;
        let folded = if point < 0x20000 { FOLD[point as usize] } else { 0 };
        if folded != 0 {
            o += write_character(folded, out.add(o));
        } else {
            copy(text.add(i), out.add(o), size.max(1));
            o += size.max(1);
        }
        i += size.max(1);
    }
    (o, valid)
}

/// Post one block. Returns whether it is UTF-8.
#[inline(never)]
unsafe fn post_block(text: *const u8, len: usize, ascii: bool, block: u32) -> bool {
    let unique = UNIQUE.as_mut_ptr();
    let mut n = keep_trigrams(text, len, unique, 0);
    let mut valid = true;
    if !ascii {
        let (folded, all_valid) = fold_text(text, len);
        n = keep_trigrams(FOLDED.as_ptr(), folded, unique, n);
        valid = all_valid;
    }
    // Lower-casing the thousand unique trigrams gives what the folded text would.
    for i in 0..n {
        n = keep(lower(*unique.add(i)), unique, n);
    }
    for i in 0..n {
        let code = *unique.add(i);
        *SEEN.as_mut_ptr().add((code >> 3) as usize) = 0;
        if !has_newline(code) {
            append(code, block);
        }
    }
    valid
}

// ---------------------------------------------------------------- documents

/// In: `at`, `len`. Out: `len` as normalised, `blocks`, `flags`.
#[repr(C)]
pub struct Document {
    at: u32,
    len: u32,
    blocks: u32,
    flags: u32,
}

#[repr(C)]
pub struct Block {
    position: u32, // in content
    newlines: u32, // in content before it
}

/// What `add` works on; it moves all fields but the first four on.
#[repr(C)]
pub struct Batch {
    documents: *mut Document,
    count: u32,
    normalise: u32,   // 0: the text is normalised already
    block_bytes: u32, // aim
    text: *mut u8,    // where the next text goes; at or before its source
    position: u32,    // of that text in content
    block: u32,       // next block of the chunk
    newline: u32,     // newlines in content so far
    blocks_out: *mut Block,
    newlines_out: *mut u16,
}

/// What one pass over a text finds.
struct Scan {
    nul: bool,
    ascii: bool,
    carriage_return: bool,
}

unsafe fn scan(text: *const u8, len: usize) -> Scan {
    let (mut low, mut high, mut cr) = (u8x16_splat(255), u8x16_splat(0), u8x16_splat(0));
    let mut i = 0;
    while i + 16 <= len {
        let bytes = v128_load(text.add(i) as *const v128);
        low = u8x16_min(low, bytes);
        high = v128_or(high, bytes);
        cr = v128_or(cr, u8x16_eq(bytes, u8x16_splat(b'\r')));
        i += 16;
    }
    let mut found = Scan {
        nul: !u8x16_all_true(low),
        ascii: u8x16_bitmask(high) == 0,
        carriage_return: v128_any_true(cr),
    };
    while i < len {
        let byte = *text.add(i);
        found.nul |= byte == 0;
        found.ascii &= byte < 0x80;
        found.carriage_return |= byte == b'\r';
        i += 1;
    }
    found
}

/// Copy without the carriage return before each newline and at the very end.
unsafe fn copy_without_returns(text: *const u8, len: usize, out: *mut u8) -> usize {
    let mut o = 0;
    for i in 0..len {
        let byte = *text.add(i);
        *out.add(o) = byte;
        let ends_line = byte == b'\r' && (i + 1 == len || *text.add(i + 1) == b'\n');
        o += !ends_line as usize;
    }
    o
}

/// Where the block that starts at `start` ends: behind the last newline within
/// `block_bytes`, or else behind the next one.
unsafe fn block_end(text: *const u8, start: usize, len: usize, block_bytes: usize) -> usize {
    if len - start <= block_bytes + block_bytes / 2 {
        return len;
    }
    let mut end = start + block_bytes;
    while end > start && *text.add(end - 1) != b'\n' {
        end -= 1;
    }
    if end > start {
        return end;
    }
    end = start + block_bytes;
    while end < len && *text.add(end) != b'\n' {
        end += 1;
    }
    if end < len {
        end + 1
    } else {
        len
    }
}

/// Write the newlines of a block, relative to it. Returns how many.
unsafe fn write_newlines(text: *const u8, len: usize, out: *mut u16) -> usize {
    let (mut i, mut n) = (0, 0);
    while i < len {
        let bytes = v128_load(text.add(i) as *const v128);
        let mut bits = u8x16_bitmask(u8x16_eq(bytes, u8x16_splat(b'\n'))) as u32;
        if len - i < 16 {
            bits &= (1 << (len - i)) - 1;
        }
        while bits != 0 {
            *out.add(n) = (i as u32 + bits.trailing_zeros()) as u16;
            n += 1;
            bits &= bits - 1;
        }
        i += 16;
    }
    n
}

/// Cut a text into blocks and post them. Returns whether it is UTF-8.
unsafe fn post_document(batch: &mut Batch, document: &mut Document, all_ascii: bool) -> bool {
    let (text, len) = (batch.text, document.len as usize);
    let (mut start, mut valid, first) = (0, true, batch.block);
    while start < len {
        let end = block_end(text, start, len, batch.block_bytes as usize);
        let (block, size) = (text.add(start), end - start);
        *batch.blocks_out =
            Block { position: batch.position + start as u32, newlines: batch.newline };
        let newlines = write_newlines(block, size, batch.newlines_out);
        let ascii = all_ascii || scan(block, size).ascii;
        valid &= post_block(block, size, ascii, batch.block);
        batch.newline += newlines as u32;
        batch.newlines_out = batch.newlines_out.add(newlines);
        batch.blocks_out = batch.blocks_out.add(1);
        batch.block += 1;
        start = end;
    }
    document.blocks = batch.block - first;
    valid
}

/// Take documents into the chunk, in order: move their normalised texts together, write the
/// rows of their blocks and their newlines, post them. Returns how many were taken: fewer
/// than all when the next one does not fit the chunk any more, or is UTF-16 (`flags`), which
/// the host must decode.
#[no_mangle]
pub unsafe extern "C" fn add(batch: *mut Batch) -> u32 {
    let batch = &mut *batch;
    for taken in 0..batch.count {
        let document = &mut *batch.documents.add(taken as usize);
        document.flags = 0;
        document.blocks = 0;
        let (mut at, mut len) = (document.at as *const u8, document.len as usize);
        // Two neighbouring blocks together are longer than `block_bytes`.
        let most = 2 * (document.len / batch.block_bytes) + 2;
        if len > MAX_DOCUMENT || batch.block + most > CHUNK_BLOCKS {
            return taken;
        }
        if batch.normalise != 0 && len >= 2 {
            let mark = (*at, *at.add(1));
            if mark == (0xff, 0xfe) || mark == (0xfe, 0xff) {
                document.flags = UTF16;
                return taken;
            }
            if len >= 3 && mark == (0xef, 0xbb) && *at.add(2) == 0xbf {
                at = at.add(3);
                len -= 3;
            }
        }
        let found = scan(at, len);
        if found.nul {
            document.flags = BINARY;
            continue;
        }
        if batch.normalise != 0 && found.carriage_return {
            len = copy_without_returns(at, len, batch.text);
        } else {
            copy(at, batch.text, len);
        }
        document.len = len as u32;
        if !post_document(batch, document, found.ascii) {
            document.flags = NOT_UTF8;
        }
        batch.text = batch.text.add(len);
        batch.position += len as u32;
    }
    batch.count
}

// ---------------------------------------------------------------- postings

/// Lay the values of a list out in VALUES.
unsafe fn list_values(list: List) {
    let values = VALUES.as_mut_ptr();
    if list.count > BITMAP_FROM {
        bitmap_values(list.at as *const u8, BITMAP_BYTES, values);
    } else {
        each_slice(list, |slice, first, count, _| {
            let source = (slice + 4) as *const u16;
            core::ptr::copy_nonoverlapping(source, values.add(first as usize), count as usize)
        });
    }
}

/// The positions of the set bits. Returns how many. Reads whole words: the bytes behind a
/// bitmap must be readable, and those of its last word count only up to `len`.
unsafe fn bitmap_values(bitmap: *const u8, len: usize, out: *mut u16) -> usize {
    let (mut at, mut n) = (0, 0);
    while at < len {
        let mut bits = (bitmap.add(at) as *const u64).read_unaligned();
        if len - at < 8 {
            bits &= (1 << (8 * (len - at))) - 1;
        }
        while bits != 0 {
            *out.add(n) = (at * 8) as u16 + bits.trailing_zeros() as u16;
            n += 1;
            bits &= bits - 1;
        }
        at += 8;
    }
    n
}

/// Write VALUES as gaps if that takes less than `limit` bytes. Returns the bytes, or 0.
unsafe fn write_gaps(count: u32, out: *mut u8, limit: u32) -> u32 {
    let (mut n, mut last) = (0u32, 0u32);
    for i in 0..count as usize {
        let value = VALUES[i] as u32;
        let mut gap = value - last;
        last = value;
        if n + gap / 255 + 1 >= limit {
            return 0;
        }
        while gap >= 255 {
            *out.add(n as usize) = 255;
            n += 1;
            gap -= 255;
        }
        *out.add(n as usize) = gap as u8;
        n += 1;
    }
    n
}

/// Write a list as one container, in the shortest kind. Returns its bytes.
#[inline(never)]
unsafe fn write_container(list: List, key: u32, blocks: u32, out: u32) -> u32 {
    let (body, bitmap_bytes) = (out + 4, (blocks + 7) / 8);
    let (mut kind, mut len) = (ARRAY, 2 * list.count);
    if len > bitmap_bytes {
        (kind, len) = (BITMAP, bitmap_bytes);
    }
    if kind == BITMAP && list.count > BITMAP_FROM {
        core::ptr::copy_nonoverlapping(list.at as *const u8, body as *mut u8, len as usize);
    } else {
        list_values(list);
        let gaps = if list.count > 8 && kind == ARRAY {
            write_gaps(list.count, body as *mut u8, len)
        } else {
            0
        };
        if gaps != 0 {
            (kind, len) = (GAPS, gaps);
        } else if kind == ARRAY {
            core::ptr::copy_nonoverlapping(
                VALUES.as_ptr() as *const u8,
                body as *mut u8,
                len as usize,
            );
        } else {
            core::slice::from_raw_parts_mut(body as *mut u8, len as usize).fill(0);
            for i in 0..list.count as usize {
                set_bit(body as *mut u8, VALUES[i] as usize);
            }
        }
    }
    (out as *mut u32).write_unaligned(key | kind << 8 | len << 16);
    4 + len
}

/// A column of codes and, beside it, of the bytes and of the blocks of their postings.
#[repr(C)]
pub struct Columns {
    codes: *mut u32,
    sizes: *mut u32,
    counts: *mut u32,
    postings: u32,
    entries: u32, // out
    bytes: u32,   // out
}

/// Write the lists of the chunk, from the 64 codes of `word` on, while they surely fit.
/// Returns the word to go on with; CODES / 64 at the end.
#[no_mangle]
pub unsafe extern "C" fn emit(
    mut word: u32,
    key: u32,
    blocks: u32,
    room: u32,
    most: u32,
    out: *mut Columns,
) -> u32 {
    let out = &mut *out;
    let longest = 64 * (4 + BITMAP_BYTES as u32);
    (out.entries, out.bytes) = (0, 0);
    while word < (CODES / 64) as u32 && out.bytes + longest <= room && out.entries + 64 <= most {
        let mut bits = PRESENT[word as usize];
        while bits != 0 {
            let code = word * 64 + bits.trailing_zeros();
            let list = LISTS[code as usize];
            let size = write_container(list, key, blocks, out.postings + out.bytes);
            *out.codes.add(out.entries as usize) = code;
            *out.sizes.add(out.entries as usize) = size;
            *out.counts.add(out.entries as usize) = list.count;
            out.entries += 1;
            out.bytes += size;
            bits &= bits - 1;
        }
        word += 1;
    }
    word
}

/// Join sorted columns of the same range of codes; `runs` in order of their keys.
#[no_mangle]
pub unsafe extern "C" fn merge(runs: *mut Columns, count: u32, out: *mut Columns) {
    let runs = core::slice::from_raw_parts_mut(runs, count as usize);
    let out = &mut *out;
    (out.entries, out.bytes) = (0, 0);
    loop {
        let next = runs.iter().filter(|run| run.entries != 0).map(|run| *run.codes).min();
        let Some(code) = next else { return };
        let (start, mut blocks) = (out.bytes, 0);
        for run in runs.iter_mut() {
            if run.entries == 0 || *run.codes != code {
                continue;
            }
            let size = *run.sizes;
            let target = (out.postings + out.bytes) as *mut u8;
            core::ptr::copy_nonoverlapping(run.postings as *const u8, target, size as usize);
            blocks += *run.counts;
            run.codes = run.codes.add(1);
            run.sizes = run.sizes.add(1);
            run.counts = run.counts.add(1);
            run.postings += size;
            run.entries -= 1;
            out.bytes += size;
        }
        *out.codes.add(out.entries as usize) = code;
        *out.sizes.add(out.entries as usize) = out.bytes - start;
        *out.counts.add(out.entries as usize) = blocks;
        out.entries += 1;
    }
}

// ---------------------------------------------------------------- AND

#[derive(Clone, Copy)]
struct Container {
    key: u32,
    kind: u32,
    body: *const u8,
    len: usize,
}

unsafe fn container(at: u32) -> Container {
    let head = (at as *const u32).read_unaligned();
    Container {
        key: head & 255,
        kind: head >> 8 & 255,
        body: (at + 4) as *const u8,
        len: (head >> 16) as usize,
    }
}

/// The container of `key` in the posting, if it has one.
unsafe fn container_of(key: u32, posting: [u32; 2]) -> Option<Container> {
    let (mut at, end) = (posting[0], posting[0] + posting[1]);
    while at < end {
        let found = container(at);
        if found.key >= key {
            return if found.key == key { Some(found) } else { None };
        }
        at += 4 + found.len as u32;
    }
    None
}

unsafe fn decode(from: Container, out: *mut u16) -> usize {
    match from.kind {
        ARRAY => {
            core::ptr::copy_nonoverlapping(from.body, out as *mut u8, from.len);
            from.len / 2
        }
        BITMAP => bitmap_values(from.body, from.len, out),
        _ => each_gap(from, out, |_| 1),
    }
}

/// Write the values of gaps for which `wanted` gives 1. Returns how many.
#[inline(always)]
unsafe fn each_gap(from: Container, out: *mut u16, wanted: impl Fn(usize) -> usize) -> usize {
    let (mut value, mut n) = (0usize, 0);
    for i in 0..from.len {
        let gap = *from.body.add(i) as usize;
        value += gap;
        *out.add(n) = value as u16;
        n += wanted(value & 0xffff) & (gap != 255) as usize;
    }
    n
}

/// WORDS of `len` bytes AND a container that is not a bitmap, as values.
unsafe fn thin_bits(len: usize, by: Container, out: *mut u16) -> usize {
    let bits = WORDS.as_ptr() as *const u8;
    core::slice::from_raw_parts_mut((bits as *mut u8).add(len), BITMAP_BYTES - len).fill(0);
    if by.kind == GAPS {
        return each_gap(by, out, |value| bit(bits, value));
    }
    let values = by.body as *const u16;
    let mut n = 0;
    for i in 0..by.len / 2 {
        let value = values.add(i).read_unaligned();
        *out.add(n) = value;
        n += bit(bits, value as usize);
    }
    n
}

/// WORDS AND a bitmap, of `len` bytes both.
unsafe fn and_bitmap(len: usize, bitmap: *const u8) {
    let words = WORDS.as_mut_ptr() as *mut u8;
    let mut i = 0;
    while i + 16 <= len {
        let left = v128_load(words.add(i) as *const v128);
        let right = v128_load(bitmap.add(i) as *const v128);
        v128_store(words.add(i) as *mut v128, v128_and(left, right));
        i += 16;
    }
    while i < len {
        *words.add(i) &= *bitmap.add(i);
        i += 1;
    }
}

/// `count` ascending values AND a container, in place. Returns how many are left.
unsafe fn thin_values(values: *mut u16, count: usize, by: Container) -> usize {
    let mut n = 0;
    match by.kind {
        BITMAP => {
            for i in 0..count {
                let value = *values.add(i);
                *values.add(n) = value;
                n += if (value as usize) < 8 * by.len { bit(by.body, value as usize) } else { 0 };
            }
        }
        ARRAY => {
            let (others, len, mut j) = (by.body as *const u16, by.len / 2, 0);
            for i in 0..count {
                let value = *values.add(i);
                while j < len && others.add(j).read_unaligned() < value {
                    j += 1;
                }
                if j == len {
                    break;
                }
                *values.add(n) = value;
                n += (others.add(j).read_unaligned() == value) as usize;
            }
        }
        _ => {
            // Mark the values as bits: walking both lists in step would mispredict a branch
            // per gap.
            let bits = MARKS.as_mut_ptr();
            for i in 0..count {
                set_bit(bits, *values.add(i) as usize);
            }
            let saved = SAVED.as_mut_ptr();
            core::ptr::copy_nonoverlapping(values, saved, count);
            n = each_gap(by, values, |value| bit(bits, value));
            for i in 0..count {
                *bits.add(*saved.add(i) as usize >> 3) = 0;
            }
        }
    }
    n
}

/// AND of postings, given as (address, length), which is fastest rarest first. Writes block
/// numbers as key << 16 | number. Returns how many.
#[no_mangle]
pub unsafe extern "C" fn intersect(postings: *const [u32; 2], count: u32, out: *mut u32) -> u32 {
    let postings = core::slice::from_raw_parts(postings, count as usize);
    let values = VALUES.as_mut_ptr();
    let (mut at, end, mut found) = (postings[0][0], postings[0][0] + postings[0][1], 0);
    while at < end {
        let first = container(at);
        let left = intersect_key(first, &postings[1..]);
        for i in 0..left {
            *out.add(found) = first.key << 16 | *values.add(i) as u32;
            found += 1;
        }
        at += 4 + first.len as u32;
    }
    found as u32
}

/// AND of one container with those of the same key, into VALUES. Bitmaps are combined by
/// words for as long as no list was met.
unsafe fn intersect_key(first: Container, others: &[[u32; 2]]) -> usize {
    let values = VALUES.as_mut_ptr();
    let mut dense = first.kind == BITMAP;
    // All bitmaps of a key are cut to the same chunk, so they have one length.
    let mut bytes = first.len.min(BITMAP_BYTES);
    let mut count = 1;
    if dense {
        let words = WORDS.as_mut_ptr() as *mut u8;
        core::ptr::copy_nonoverlapping(first.body, words, bytes);
    } else {
        count = decode(first, values);
    }
    for posting in others {
        if count == 0 {
            return 0;
        }
        let Some(by) = container_of(first.key, *posting) else { return 0 };
        if dense && by.kind == BITMAP {
            bytes = bytes.min(by.len);
            and_bitmap(bytes, by.body);
        } else if dense {
            count = thin_bits(bytes, by, values);
            dense = false;
        } else {
            count = thin_values(values, count, by);
        }
    }
    if dense {
        bitmap_values(WORDS.as_ptr() as *const u8, bytes, values)
    } else {
        count
    }
}
