//! The plot of the dead host: a bar for each client, as an SVG file that needs nothing else.

use std::fmt::Write as _;

const WIDTH: f64 = 820.0;
/// The drawing area, inside of titles and axes.
const LEFT: f64 = 110.0;
const RIGHT: f64 = 730.0;
const TOP: f64 = 110.0;
/// From one line of text to the next.
const LINE: f64 = 18.0;
const ROW: f64 = 44.0;
const BAR: f64 = 24.0;

/// Colours that the colour-blind tell apart, on a light ground and on a dark one.
const STYLE: &str = "\
  text { font: 13px system-ui, sans-serif; fill: #1c1c1c; }
  .title { font-size: 17px; font-weight: 600; }
  .quiet { fill: #666666; }
  .end { text-anchor: end; } .middle { text-anchor: middle; }
  .ground { fill: #ffffff; }
  .grid { stroke: #e2e2e2; stroke-width: 1; }
  .axis { stroke: #666666; stroke-width: 1; fill: none; }
  .peer { fill: #e09a5f; } .ours { fill: #3d8fd1; }
  .moved { stroke: #1c1c1c; stroke-width: 2.5; stroke-dasharray: 4 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #ececec; } .quiet { fill: #a0a0a0; } .ground { fill: #14171a; } .grid { stroke: #32373c; }
    .axis { stroke: #a0a0a0; } .peer { fill: #b8702f; } .ours { fill: #2f7fc0; } .moved { stroke: #ececec; }
  }
";

/// A client's bar.
#[derive(Debug, Clone)]
pub struct Bar {
    /// Its name.
    pub client: String,
    /// How long a record of a sick partition waited, at most, in seconds.
    pub worst_s: f64,
    /// When the leaders had moved, in seconds from the fault.
    pub moved_s: f64,
    /// Whether it is our own.
    pub ours: bool,
}

/// The bars below each other, each with the leader move marked; `subtitle` says what ran, where and when, a line each.
#[must_use]
pub fn svg(bars: &[Bar], [load, place]: &[String; 2]) -> String {
    let longest = bars.iter().map(|bar| bar.worst_s.max(bar.moved_s)).fold(1.0, f64::max);
    let step =
        [1.0, 2.0, 5.0, 10.0, 20.0, 50.0].into_iter().find(|step| longest / step <= 8.0).unwrap_or(100.0);
    let end = (longest / step).ceil() * step;
    let x = |seconds: f64| LEFT + (RIGHT - LEFT) * seconds / end;
    let bottom = TOP + ROW * bars.len() as f64;
    let height = bottom + 56.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n\
         <title>One of three hosts dies: the longest wait of a record for it</title>\n<desc>{}</desc>\n<style>\n{STYLE}</style>\n\
         <rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/>\n",
        escape(&words(bars))
    );
    text(&mut out, 20.0, 30.0, "title", "One of three hosts dies: the longest wait of a record for it");
    text(&mut out, 20.0, 50.0, "quiet", load);
    text(&mut out, 20.0, 50.0 + LINE, "quiet", place);
    _ = writeln!(out, "<path class=\"moved\" d=\"M24 {}v16\"/>", TOP - 28.0);
    text(&mut out, 34.0, TOP - 15.0, "", "the cluster has moved the leaders: no client can be quicker");
    let mut tick = 0.0;
    while tick <= end + 1e-9 {
        _ = writeln!(out, "<path class=\"grid\" d=\"M{:.1} {TOP}V{bottom}\"/>", x(tick));
        text(&mut out, x(tick), bottom + 20.0, "middle", &format!("{tick:.0}"));
        tick += step;
    }
    for (row, bar) in bars.iter().enumerate() {
        let middle = TOP + ROW * (row as f64 + 0.5);
        let top = middle - BAR / 2.0;
        let class = if bar.ours { "ours" } else { "peer" };
        text(&mut out, LEFT - 10.0, middle + 4.5, "end", &bar.client);
        let width = x(bar.worst_s) - LEFT;
        _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{LEFT}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{BAR}\"/>"
        );
        let mark = x(bar.moved_s);
        _ = writeln!(out, "<path class=\"moved\" d=\"M{mark:.1} {:.1}v{:.1}\"/>", top - 5.0, BAR + 10.0);
        let label = format!("{:.1} s", bar.worst_s);
        text(&mut out, x(bar.worst_s.max(bar.moved_s)) + 8.0, middle + 4.5, "", &label);
    }
    _ = writeln!(out, "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{RIGHT}\"/>");
    text(
        &mut out,
        f64::midpoint(LEFT, RIGHT),
        bottom + 42.0,
        "middle",
        "seconds from send to acknowledgement",
    );
    out.push_str("</svg>\n");
    out
}

fn words(bars: &[Bar]) -> String {
    let one =
        |bar: &Bar| format!("{}: {:.1} s, leaders moved after {:.1} s", bar.client, bar.worst_s, bar.moved_s);
    bars.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn text(out: &mut String, x: f64, y: f64, class: &str, text: &str) {
    _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{}</text>", escape(text));
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stay_in_the_picture_and_say_their_figures() {
        let bar =
            |client: &str, worst_s, ours| Bar { client: client.to_owned(), worst_s, moved_s: 9.3, ours };
        let svg =
            svg(&[bar("milena", 9.6, true), bar("a < b", 61.1, false)], &["two", "lines"].map(str::to_owned));
        for part in
            [">9.6 s</text>", ">61.1 s</text>", ">70</text>", "a &lt; b", "prefers-color-scheme: dark"]
        {
            assert!(svg.contains(part), "{part}\n{svg}");
        }
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
    }
}
