;;; emacs.el --- what a user of Emacs sees -*- lexical-binding: t -*-
;;; Commentary:
;; What Flymake shows of $OPENED, written as JSON to $SEEN.
;;; Code:
(require 'cl-lib)
(require 'eglot)
(require 'flymake)
(require 'json)

(setq flymake-no-changes-timeout 0.1)

(defun seen-findings ()
  "The findings in this buffer, in order."
  (mapcar (lambda (found)
            `((line . ,(line-number-at-pos (flymake-diagnostic-beg found)))
              (text . ,(buffer-substring-no-properties
                        (flymake-diagnostic-beg found) (flymake-diagnostic-end found)))
              (message . ,(flymake-diagnostic-text found))))
          (sort (flymake-diagnostics)
                (lambda (one other) (< (flymake-diagnostic-beg one) (flymake-diagnostic-beg other))))))

(defun wait-for-findings (&rest texts)
  "Wait until this buffer's findings are of TEXTS; return what they are in the end."
  (let ((end (time-add nil 60)))
    (while (and (not (equal texts (mapcar (lambda (found) (alist-get 'text found)) (seen-findings))))
                (time-less-p nil end))
      (eglot--signal-textDocument/didChange) ; done by itself once Emacs is idle, which it is not in a batch
      (accept-process-output nil 0.05)
      (flymake-start))
    (seen-findings)))

(defun seen-hover ()
  "What is told of what stands at the cursor."
  (let ((told nil) (end (time-add nil 60)))
    (eglot-hover-eldoc-function (lambda (text &rest _) (setq told (or text ""))))
    (while (and (not told) (time-less-p nil end))
      (accept-process-output nil 0.05))
    (substring-no-properties told)))

(defun line-text (number)
  "The text of line NUMBER."
  (save-excursion
    (goto-char (point-min))
    (forward-line (1- number))
    (buffer-substring-no-properties (point) (line-end-position))))

(defun put-cursor (number text)
  "Put the cursor on TEXT in line NUMBER."
  (goto-char (point-min))
  (forward-line (1- number))
  (search-forward text (line-end-position))
  (goto-char (1+ (match-beginning 0))))

(defun take-action (title)
  "Take the code action with TITLE at the cursor."
  (cl-letf ((last-nonmenu-event ?\r) ; not the mouse, which would be shown a menu
            ((symbol-function 'completing-read)
             (lambda (_ actions &rest _) (car (assoc title actions)))))
    (call-interactively #'eglot-code-actions)))

(defun look ()
  "All that is seen, as an association list."
  (find-file (getenv "OPENED"))
  (apply #'eglot (eglot--guess-contact)) ; what `eglot-ensure' does once Emacs is idle
  (let* ((findings (wait-for-findings "\"model\"" "\"modle\""))
         (hover (progn (put-cursor 8 "\"data\"") (seen-hover)))
         (renamed (progn (eglot-rename "batch") (vector (line-text 6) (line-text 8))))
         (fixed (progn (put-cursor 11 "\"modle\"")
                       (take-action "Write \"model\" (SHL103)")
                       (line-text 11)))
         (after-fix (wait-for-findings "\"model\"")))
    (set-buffer-modified-p nil)
    `((findings . ,(vconcat findings)) (hover . ,hover)
      (renamed . ,renamed) (fixed . ,fixed) (after_fix . ,(vconcat after-fix)))))

(let ((seen (condition-case failed (save-current-buffer (look))
              (error `((failed . ,(error-message-string failed)))))))
  (with-temp-buffer
    (insert (json-encode seen))
    (write-region nil nil (getenv "SEEN"))))
(kill-emacs 0)
;;; emacs.el ends here
