//! The plot: how long records waited over time, as an SVG file that needs nothing else.

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use super::{
    meter::{Fate, Sample},
    summary::Summary,
};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 536.0;
/// The drawing area, inside of titles and axes.
const LEFT: f64 = 78.0;
const RIGHT: f64 = 940.0;
const TOP: f64 = 140.0;
const BOTTOM: f64 = 472.0;
/// A point of a line is the longest wait of what was due in so much of the play: two pixels or so.
const BUCKETS: f64 = 400.0;

/// Colours that the colour-blind tell apart, on a light ground and on a dark one. No variables: not every viewer knows them.
const STYLE: &str = "\
  text { font: 13px system-ui, sans-serif; fill: #1c1c1c; }
  .title { font-size: 17px; font-weight: 600; }
  .quiet { fill: #666666; }
  .end { text-anchor: end; } .middle { text-anchor: middle; }
  .ground { fill: #ffffff; }
  .grid { stroke: #e2e2e2; stroke-width: 1; }
  .axis { stroke: #666666; stroke-width: 1; fill: none; }
  .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
  .old { stroke: #c44e00; } .new { stroke: #0068b5; }
  .untouched { stroke-width: 1.3; stroke-dasharray: 2 3; }
  .failed { stroke-width: 1.5; fill: none; }
  .event { stroke: #1c1c1c; stroke-width: 1.4; stroke-dasharray: 6 4; }
  .held { fill: #c44e00; opacity: 0.16; stroke: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #ececec; } .quiet { fill: #a0a0a0; } .ground { fill: #14171a; } .grid { stroke: #32373c; }
    .axis { stroke: #a0a0a0; } .old { stroke: #ff9a4d; } .new { stroke: #5fb8ff; } .event { stroke: #ececec; }
    .held { fill: #ff9a4d; }
  }
";

/// The play as a picture.
pub(super) fn svg(summary: &Summary, length: Duration, subtitle: &str) -> String {
    let length = length.max(Duration::from_millis(1));
    let (old, new) = (Points::of(&summary.old, length), Points::of(&summary.new, length));
    let in_between = summary.new.iter().filter(|sample| {
        let moved = summary.moved.unwrap_or(length);
        (summary.fault..moved).contains(&sample.due) && !summary.touched.contains(&sample.partition)
    });
    let untouched =
        if summary.touched.is_empty() { Points::default() } else { Points::of(in_between, length) };
    let scale = Scale::of(&old, &new, length);
    Plot { summary, scale, old, new, untouched, subtitle }.draw()
}

struct Plot<'a> {
    summary: &'a Summary,
    scale: Scale,
    old: Points<'a>,
    new: Points<'a>,
    /// Of the new one, while the cluster had not got over it: partitions that the fault did not touch.
    untouched: Points<'a>,
    subtitle: &'a str,
}

/// What is drawn of a producer: of each piece of time the record that waited longest, and the one that waited longest of those
/// that failed.
#[derive(Debug, Default)]
struct Points<'a> {
    longest: BTreeMap<u32, &'a Sample>,
    failed: BTreeMap<u32, &'a Sample>,
}

impl<'a> Points<'a> {
    fn of(samples: impl IntoIterator<Item = &'a Sample>, length: Duration) -> Self {
        let piece = length.as_secs_f64() / BUCKETS;
        let mut points = Self::default();
        for sample in samples {
            let number = (sample.due.as_secs_f64() / piece) as u32;
            let keep = |found: &mut BTreeMap<u32, &'a Sample>| {
                let longest = found.entry(number).or_insert(sample);
                if longest.wait < sample.wait {
                    *longest = sample;
                }
            };
            keep(&mut points.longest);
            if sample.fate == Fate::Failed {
                keep(&mut points.failed);
            }
        }
        points
    }

    fn waits(&self) -> impl Iterator<Item = Duration> {
        self.longest.values().map(|sample| sample.wait)
    }
}

/// Where times and waits are in the picture.
#[derive(Debug)]
struct Scale {
    seconds: f64,
    /// The decades of the waits' axis, as powers of ten of seconds.
    lowest: i32,
    highest: i32,
}

impl Scale {
    fn of(old: &Points<'_>, new: &Points<'_>, length: Duration) -> Self {
        let all = || old.waits().chain(new.waits());
        let seconds = |wait: Option<Duration>, or: f64| wait.map_or(or, |wait| wait.as_secs_f64().max(1e-6));
        let least = seconds(all().min(), 1e-3);
        let most = seconds(all().max(), 1.0);
        // Of the shortest waits no more is to be seen than that they are short.
        let lowest = (least.log10().floor() as i32).clamp(-4, -1);
        let highest = (most.log10().ceil() as i32).max(0);
        Self { seconds: length.as_secs_f64(), lowest, highest }
    }

    fn x(&self, at: Duration) -> f64 {
        LEFT + (RIGHT - LEFT) * (at.as_secs_f64() / self.seconds).min(1.0)
    }

    fn y(&self, wait: Duration) -> f64 {
        let (lowest, highest) = (f64::from(self.lowest), f64::from(self.highest));
        let power = wait.as_secs_f64().max(1e-9).log10().clamp(lowest, highest);
        BOTTOM - (BOTTOM - TOP) * (power - lowest) / (highest - lowest)
    }

    /// 1, 2 or 5 times a power of ten seconds, so that there are at most a dozen.
    fn step(&self) -> f64 {
        let least = self.seconds / 12.0;
        let power = 10_f64.powf(least.log10().floor());
        [1.0, 2.0, 5.0, 10.0]
            .map(|step| step * power)
            .into_iter()
            .find(|step| *step >= least)
            .unwrap_or(least)
    }
}

impl Plot<'_> {
    fn draw(&self) -> String {
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             role=\"img\">\n<title>A broker's host dies: how long records waited</title>\n<desc>{}</desc>\n\
             <style>\n{STYLE}</style>\n<rect class=\"ground\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n",
            escape(self.summary.sentence().trim_end())
        );
        self.heading(&mut out);
        self.axes(&mut out);
        self.held_up(&mut out);
        self.line(&mut out, &self.old, "old");
        self.line(&mut out, &self.new, "new");
        self.line(&mut out, &self.untouched, "new untouched");
        self.event(&mut out, self.summary.fault, 0.0, "the host dies");
        if let Some(moved) = self.summary.moved {
            self.event(&mut out, moved, 16.0, "leaders have moved");
        }
        out.push_str("</svg>\n");
        out
    }

    fn heading(&self, out: &mut String) {
        text(out, LEFT, 28.0, "title", "A broker's host dies: how long records waited");
        text(out, LEFT, 48.0, "quiet", self.subtitle);
        let entry = |out: &mut String, column: f64, row: f64, class: &str, label: &str| {
            let (x, y) = (LEFT + 330.0 * column, 68.0 + 20.0 * row);
            _ = if class == "held" {
                let y = y - 7.0;
                writeln!(out, "<rect class=\"held\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"24\" height=\"14\"/>")
            } else {
                writeln!(out, "<path class=\"line {class}\" d=\"M{x:.1} {y:.1}h24\"/>")
            };
            text(out, x + 31.0, y + 4.5, "", label);
        };
        entry(out, 0.0, 0.0, "old", "old producer (Kafka 0.8)");
        entry(out, 0.0, 1.0, "new", "new producer (Milena)");
        if self.summary.held_up().next().is_some() {
            entry(out, 1.0, 0.0, "held", "the old producer's refresh waits for the dead host");
        }
        if !self.untouched.longest.is_empty() {
            entry(
                out,
                1.0,
                1.0,
                "new untouched",
                "the new one's partitions without a replica on the dead host",
            );
        }
    }

    fn axes(&self, out: &mut String) {
        let scale = &self.scale;
        for power in scale.lowest..=scale.highest {
            let wait = Duration::from_secs_f64(10_f64.powi(power));
            let y = scale.y(wait);
            _ = writeln!(out, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>");
            let label =
                if power < 0 { format!("{} ms", millis(power)) } else { format!("{} s", wait.as_secs()) };
            text(out, LEFT - 8.0, y + 4.5, "end", &label);
        }
        let step = scale.step();
        let mut tick = 0.0;
        while tick <= scale.seconds * 1.0001 {
            let x = scale.x(Duration::from_secs_f64(tick));
            _ = writeln!(out, "<path class=\"axis\" d=\"M{x:.1} {BOTTOM}v5\"/>");
            let digits = if step < 1.0 { 1 } else { 0 };
            text(out, x, BOTTOM + 20.0, "middle", &format!("{tick:.digits$}"));
            tick += step;
        }
        _ = writeln!(out, "<path class=\"axis\" d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\"/>");
        let middle = f64::midpoint(LEFT, RIGHT);
        text(out, middle, BOTTOM + 44.0, "middle", "when the record was due, in seconds since the start");
        let middle = f64::midpoint(TOP, BOTTOM);
        _ = writeln!(
            out,
            "<text class=\"middle\" transform=\"translate(18 {middle}) rotate(-90)\">from due to acknowledged (log scale)</text>"
        );
    }

    /// When a refresh of the old producer was held up.
    fn held_up(&self, out: &mut String) {
        for refresh in self.summary.held_up() {
            let (from, to) = (self.scale.x(refresh.began()), self.scale.x(refresh.at));
            let (width, height) = ((to - from).max(1.5), BOTTOM - TOP);
            _ = writeln!(
                out,
                "<rect class=\"held\" x=\"{from:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
            );
        }
    }

    /// The longest waits as a line, and a cross where records have failed.
    fn line(&self, out: &mut String, points: &Points<'_>, class: &str) {
        let place = |sample: &Sample| (self.scale.x(sample.due), self.scale.y(sample.wait));
        let mut path = String::new();
        for sample in points.longest.values() {
            let (x, y) = place(sample);
            _ = write!(path, "{}{x:.1} {y:.1}", if path.is_empty() { "M" } else { "L" });
        }
        if !path.is_empty() {
            _ = writeln!(out, "<path class=\"line {class}\" d=\"{path}\"/>");
        }
        for sample in points.failed.values() {
            let (x, y) = place(sample);
            _ = writeln!(out, "<path class=\"failed {class}\" d=\"M{x:.1} {y:.1}m-4 -4l8 8m0 -8l-8 8\"/>");
        }
    }

    /// `below` keeps the words of two events apart.
    fn event(&self, out: &mut String, at: Duration, below: f64, label: &str) {
        let x = self.scale.x(at);
        let top = TOP - 32.0 + below;
        _ = writeln!(out, "<path class=\"event\" d=\"M{x:.1} {top}V{BOTTOM}\"/>");
        // At the right end there is more room before the line than behind it.
        let (x, class) = if x > RIGHT - 160.0 { (x - 4.0, "end") } else { (x + 4.0, "") };
        text(out, x, TOP - 21.0 + below, class, &format!("{label} ({:.1} s)", at.as_secs_f64()));
    }
}

fn millis(power: i32) -> String {
    if power < -3 {
        format!("{:.*}", (-3 - power) as usize, 10_f64.powi(power + 3))
    } else {
        format!("{}", 10_i32.pow((power + 3) as u32))
    }
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

    fn samples(waits: &[(u64, u64)]) -> Vec<Sample> {
        let sample = |(due, wait): &(u64, u64)| Sample {
            due: Duration::from_millis(*due),
            wait: Duration::from_millis(*wait),
            partition: 0,
            fate: Fate::Acknowledged,
        };
        waits.iter().map(sample).collect()
    }

    fn play() -> Summary {
        Summary {
            old: samples(&[(0, 2), (5_000, 10_000), (30_000, 2)]),
            new: samples(&[(0, 1), (10, 3), (40_000, 1)]),
            fault: Duration::from_secs(5),
            moved: Some(Duration::from_secs(49)),
            request_timeout: Duration::from_secs(10),
            ..Summary::default()
        }
    }

    #[test]
    fn it_has_lines_events_axes_and_a_legend() {
        let svg = svg(&play(), Duration::from_secs(50), "a < b & c");
        for part in [
            "<path class=\"line old\" d=\"M78.0 ",
            "<path class=\"line new\" d=\"M78.",
            "the host dies (5.0 s)",
            "leaders have moved (49.0 s)",
            "old producer (Kafka 0.8)",
            "new producer (Milena)",
            ">1 ms</text>",
            ">10 s</text>",
            ">50</text>",
            "in seconds since the start",
            "prefers-color-scheme: dark",
            ".old { stroke: #c44e00; }",
            "a &lt; b &amp; c",
        ] {
            assert!(svg.contains(part), "{part}\n{svg}");
        }
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("var("), "viewers other than browsers draw it all black");
        assert!(!svg.contains("waits for the dead host"), "no refresh did");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn the_scale_is_logarithmic_and_stays_in_the_picture() {
        let (play, length) = (play(), Duration::from_secs(50));
        let (old, new) = (Points::of(&play.old, length), Points::of(&play.new, length));
        let scale = Scale::of(&old, &new, length);
        assert_eq!((scale.lowest, scale.highest), (-3, 1));
        let y = |millis| scale.y(Duration::from_millis(millis));
        assert!((y(1) - BOTTOM).abs() < 0.01 && (y(10_000) - TOP).abs() < 0.01);
        assert!(((y(10) - y(100)) - (y(100) - y(1_000))).abs() < 0.01);
        assert!((scale.y(Duration::ZERO) - BOTTOM).abs() < 0.01 && (y(1_000_000) - TOP).abs() < 0.01);
        assert!((scale.x(Duration::from_secs(500)) - RIGHT).abs() < 0.01);
        assert!((scale.step() - 5.0).abs() < 1e-9);
    }

    #[test]
    fn without_records_it_is_a_picture_all_the_same() {
        let svg = svg(&Summary::default(), Duration::from_secs(1), "");
        assert!(svg.contains("title") && !svg.contains("class=\"line old\" d=\"M78.0 1\""), "{svg}");
    }

    #[test]
    fn failures_are_crosses() {
        let mut play = play();
        play.old[1].fate = Fate::Failed;
        assert_eq!(svg(&play, Duration::from_secs(50), "").matches("class=\"failed old\"").count(), 1);
    }
}
