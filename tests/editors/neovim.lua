-- What a user of Neovim sees of the file that is open, written as JSON to $SEEN.
local function wait_for(what, seen)
  if not vim.wait(60000, function() return (seen()) end, 20) then
    error("waited in vain for " .. what)
  end
end

local function findings()
  return vim.tbl_map(function(found)
    return { code = found.code, line = found.lnum + 1, column = found.col, severity = found.severity }
  end, vim.diagnostic.get(0))
end

local function line(number)
  return vim.api.nvim_buf_get_lines(0, number - 1, number, true)[1]
end

local function put_cursor(number, text)
  vim.api.nvim_win_set_cursor(0, { number, line(number):find(text, 1, true) - 1 })
end

local function look()
  local seen = {}
  wait_for("findings", function() return #vim.diagnostic.get(0) == 2 end)
  seen.findings = findings()

  put_cursor(8, '"data"')
  vim.lsp.buf.hover()
  wait_for("the hover", function() return #vim.api.nvim_list_wins() == 2 end)
  local window = vim.api.nvim_list_wins()[2]
  local shown = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, true)
  seen.hover = table.concat(shown, "\n")
  vim.api.nvim_win_close(window, true)

  wait_for("the hints", function() return #vim.lsp.inlay_hint.get({ bufnr = 0 }) == 1 end)
  seen.hint = vim.lsp.inlay_hint.get({ bufnr = 0 })[1].inlay_hint.label

  vim.lsp.buf.references()
  wait_for("the references", function() return #vim.fn.getqflist() > 0 end)
  seen.references = vim.tbl_map(function(place) return place.lnum end, vim.fn.getqflist())
  vim.cmd("cclose")

  vim.lsp.buf.rename("batch")
  wait_for("the new name", function() return line(8):find('"batch"', 1, true) and line(6):find('"batch"', 1, true) end)
  seen.renamed = { line(6), line(8) }

  put_cursor(11, '"modle"')
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action) return action.title == 'Write "model" (SHL103)' end,
  })
  wait_for("the fix", function() return line(11):find('"model"', 1, true) end)
  wait_for("the findings after it", function() return #vim.diagnostic.get(0) == 1 end)
  seen.after_fix = findings()

  put_cursor(10, '"model"')
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action) return action.title == "Confirm on a fake mesh (SHL202)" end,
  })
  local function confirmed()
    local found = vim.diagnostic.get(0)[1]
    return found ~= nil and found.message:find("confirmed by JAX", 1, true) ~= nil
  end
  for _ = 1, 60 do -- it cannot be told to ask again, and asks as the text changes
    vim.api.nvim_buf_set_lines(0, -1, -1, true, { "" })
    if vim.wait(1000, confirmed, 20) then
      break
    end
  end
  seen.confirmed = vim.diagnostic.get(0)[1].message
  return seen
end

local fine, seen = xpcall(look, debug.traceback)
vim.fn.writefile({ vim.json.encode(fine and seen or { failed = seen }) }, vim.env.SEEN)
vim.cmd("qall!")
