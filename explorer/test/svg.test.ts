import { expect, test } from "vitest";
import { SvgInk } from "../src/svg";

test("a picture has what was drawn, with its colours, and text is escaped", () => {
  const ink = new SvgInk();
  ink.strokeStyle = "#0072b2";
  ink.beginPath();
  ink.moveTo(0, 1);
  ink.lineTo(10.126, 2);
  ink.stroke();
  ink.save();
  ink.translate(5, 6);
  ink.globalAlpha = 0.5;
  ink.fillText("a < b", 1, 2);
  ink.restore();
  ink.fillRect(10, 10, -4, 2);
  const text = ink.document(100, 50);
  expect(text).toContain('<path d="M0 1L10.13 2" fill="none" stroke="#0072b2"');
  expect(text).toContain('opacity="0.5" transform="translate(5 6)">a &lt; b</text>');
  expect(text).toContain('<rect x="6" y="10" width="4" height="2" fill="#000"/>');
});
