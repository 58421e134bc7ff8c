// Tracks the visible part of a large diagram, and moves and zooms it with the mouse.
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Viewport } from "./model.ts";

type Box = RefObject<HTMLElement | null>;

/** The visible part of a scrolled box, in the coordinates of its content; measured at most once a frame. */
export function useViewport(box: Box, size: number): Viewport | null {
  const [sight, setSight] = useState<Viewport | null>(null);
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

/** The mouse may move this far, in pixels, and still click. */
const CLICK_TOLERANCE_PX = 4;

/** Moves the content of a box by dragging it with the mouse. Touch screens scroll natively. */
export function useDragScroll(box: Box): void {
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
      isMoved ||= Math.hypot(x, y) > CLICK_TOLERANCE_PX;
      if (isMoved) element.scrollTo(from.left - x, from.top - y);
    };
    const up = () => {
      from = null;
    };
    // A drag is not a click.
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

/** Zooms with Ctrl and the wheel, or by pinching on a touchpad. */
export function useWheelZoom(box: Box, resize: (by: 1 | -1) => void): void {
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
      // A notch of a wheel is about a hundred; a touchpad sends many small deltas.
      if (Math.abs(turned) < 40) return;
      latest.current(turned < 0 ? 1 : -1);
      turned = 0;
    };
    // Not passive: the browser would zoom the whole page.
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [box]);
}
