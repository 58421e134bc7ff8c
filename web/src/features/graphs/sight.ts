// What part of a large picture is in sight, and moving it by dragging and by the wheel.
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Sight } from "./model.ts";

type Box = RefObject<HTMLElement | null>;

/** What the scrolled box shows, in the measure of what is in it; looked at once a frame at most. */
export function useSight(box: Box, size: number): Sight | null {
  const [sight, setSight] = useState<Sight | null>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    let frame = 0;
    const look = () => {
      frame = 0;
      const { scrollLeft, scrollTop, clientWidth, clientHeight } = element;
      setSight({ left: scrollLeft / size, top: scrollTop / size, right: (scrollLeft + clientWidth) / size, bottom: (scrollTop + clientHeight) / size });
    };
    const soon = () => {
      frame ||= requestAnimationFrame(look);
    };
    look();
    element.addEventListener("scroll", soon, { passive: true });
    const observer = new ResizeObserver(soon);
    observer.observe(element);
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener("scroll", soon);
      observer.disconnect();
    };
  }, [box, size]);
  return sight;
}

/** A click is one until the mouse has gone this far. */
const STILL = 4;

/** The mouse takes hold of what is in the box and moves it. Fingers scroll by themselves. */
export function useDragged(box: Box): void {
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let from: { x: number; y: number; left: number; top: number } | null = null;
    let isMoved = false;
    const down = (event: PointerEvent) => {
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      from = { x: event.clientX, y: event.clientY, left: element.scrollLeft, top: element.scrollTop };
      isMoved = false;
    };
    const move = (event: PointerEvent) => {
      if (!from || event.buttons !== 1) return;
      const [x, y] = [event.clientX - from.x, event.clientY - from.y];
      isMoved ||= Math.hypot(x, y) > STILL;
      if (isMoved) element.scrollTo(from.left - x, from.top - y);
    };
    const up = () => {
      from = null;
    };
    // What was moved was not clicked.
    const click = (event: MouseEvent) => {
      if (!isMoved) return;
      isMoved = false;
      event.preventDefault();
      event.stopPropagation();
    };
    element.addEventListener("pointerdown", down);
    element.addEventListener("click", click, true);
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up);
    return () => {
      element.removeEventListener("pointerdown", down);
      element.removeEventListener("click", click, true);
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
    };
  }, [box]);
}

/** The wheel with Ctrl, and two fingers on a pad, make it larger and smaller. */
export function useWheel(box: Box, resize: (by: 1 | -1) => void): void {
  const latest = useRef(resize);
  latest.current = resize;
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let turned = 0;
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      turned += event.deltaY;
      // A notch of a wheel is about a hundred; a pad sends many small ones.
      if (Math.abs(turned) < 40) return;
      latest.current(turned < 0 ? 1 : -1);
      turned = 0;
    };
    // Not passive: the browser would make the whole page larger.
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [box]);
}
