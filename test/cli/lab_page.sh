#!/bin/sh
# lab_page.sh: the pages and drawings of `holdfast lab` as a browser shows them,
# light and dark, 1280 and 400 pixels wide: no script fails, every run has its
# lanes, and no text meets another one or leaves its drawing.
. ./lib.sh

need_redis
need_program chromium
export HOME="$dir"

# What the page finds out about itself, in an attribute of its body.
cat >"$dir/look.html" <<'EOF2'
<script>
const bad = []
onerror = text => { bad.push(text) }
const apart = (a, b) => a.right < b.left + 1 || b.right < a.left + 1 ||
    a.bottom < b.top + 3 || b.bottom < a.top + 3
function look(svg, width) {
    const edge = svg.getBoundingClientRect()
    const texts = [...svg.querySelectorAll('text')].map(
        t => [t.getBoundingClientRect(), t.textContent])
    for (const [a, said] of texts)
        if (a.right > edge.right + 1 || a.left < edge.left - 1)
            bad.push(width + ': out of the drawing: ' + said)
    for (let i = 0; i < texts.length; i++)
        for (let j = 0; j < i; j++)
            if (!apart(texts[i][0], texts[j][0]))
                bad.push(width + ': ' + texts[i][1] + ' / ' + texts[j][1])
}
onload = () => {
    for (const width of [1280, 400]) {
        document.body.style.boxSizing = 'border-box'
        document.body.style.width = width + 'px'
        document.querySelectorAll('svg').forEach(svg => look(svg, width))
    }
    const ink = getComputedStyle(document.querySelector('svg text')).fill
    document.body.dataset.lanes = document.querySelectorAll('.n').length
    document.body.dataset.ink = ink
    document.body.dataset.bad = bad.join('; ') || 'nothing'
}
</script>
EOF2

# look_at FILE SCHEME: its body's attributes, in $dir/out.
look_at() {
    cat "$1" "$dir/look.html" >"$dir/page.html"
    timeout 120 chromium --headless --no-sandbox --disable-gpu \
        --user-data-dir="$dir/chromium" --window-size=1280,1000 \
        --blink-settings=preferredColorScheme="$2" \
        --dump-dom "file://$dir/page.html" 2>"$dir/err" |
        grep -o 'data-[a-z]*="[^"]*"' >"$dir/out"
}

expect 0 'a page is made' "$HOLDFAST" lab run pause -q --html "$dir/pause.html"
look_at "$dir/pause.html" 1
check "the page: nothing meets or is cut: $(cat "$dir/out")" \
    out_has 'data-bad="nothing"'
check 'it has a lane for each' out_has 'data-lanes="8"'
check 'its ink is dark' out_has 'data-ink="rgb(31, 35, 40)"'
look_at "$dir/pause.html" 0
check 'the ink of a dark page is light' out_has 'data-ink="rgb(230, 237, 243)"'

# ---- all drawings of the documentation, in one page -------------------------
{ echo '<!DOCTYPE html><body>' && cat ../../docs/lab/*.svg; } >"$dir/all.html"
look_at "$dir/all.html" 1
check "the drawings: nothing meets or is cut: $(cat "$dir/out")" \
    out_has 'data-bad="nothing"'

# ---- and it would be seen ---------------------------------------------------
sed 's/<svg [^>]*>/&<text x="20" y="24">one upon another<\/text>/' \
    "$dir/all.html" >"$dir/worse.html"
look_at "$dir/worse.html" 1
check 'a text upon another one is found' out_has 'one upon another'
finish
